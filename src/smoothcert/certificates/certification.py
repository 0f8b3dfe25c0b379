"""Everything that decides the votes of a classifier and what they prove, fixed together before the first vote."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from smoothcert.certificates.certificate import Certificate, Verdict
from smoothcert.certificates.identity import is_settled
from smoothcert.certificates.procedure import Plan
from smoothcert.sampling import ImageSampling, VoteSource


@dataclass(frozen=True, kw_only=True)
class Certification(VoteSource):
    """One way to certify images: starts their samplings, and makes certificates of those that are decided.

    Args:
        plan: the procedure, bound to noise and alpha.
        alpha: error probability per image.
        model: the classifier's digest or name.
        procedure: description of the procedure, for the certificates.
        law: description of the noise, for the certificates.
        images: how many there will be, for choices about speed.
        ensemble: record of a classifier that is an ensemble, for manifests; None for others.
        source: where a classifier that no folder describes is from, for manifests; None for others.
        answer: which of the engine's answers is the classifier's.

    The other arguments are those of `VoteSource`.
    """

    plan: Plan
    alpha: float
    model: str
    procedure: dict[str, Any]
    law: dict[str, Any]
    images: int = 1
    ensemble: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    answer: int = 0

    def sampling(self, index: int, image: torch.Tensor, saved: Any = None) -> ImageSampling[Verdict]:
        """Return an image's sampling from the start, or from where `save` left it.

        A state that another classifier left behind is not used: its votes prove nothing about this one. Nor is one of a
        classifier whose identity is not settled, which may have been exchanged since, nor one that is damaged: the
        image is drawn anew, which costs time and changes no vote.

        Args:
            index: the image's place in the keyed stream.
            image: the clean image.
            saved: what `save` returned, as it came from a file; None for none.
        """
        if saved is not None and self.may_continue(saved):
            begun = self._from_start(index, image)
            with contextlib.suppress(ValueError):
                begun.restore(saved["sampling"])
                return begun
        return self._from_start(index, image)

    def may_continue(self, saved: Any) -> bool:
        """Return whether a state, as it came from a file, is about this very classifier, run by this engine."""
        if not isinstance(saved, dict) or set(saved) != {"model", "engine", "sampling"}:
            return False
        own = (self.model, self.engine.engine_name)
        return (saved["model"], saved["engine"]) == own and is_settled(self.model)

    def _from_start(self, index: int, image: torch.Tensor) -> ImageSampling[Verdict]:
        decision = self.plan.start()
        classes, phases = self.engine.num_classes, self.plan.phases
        return ImageSampling(index, image, phases, decision, classes, self.answer, self.seed)

    def save(self, sampling: ImageSampling[Verdict]) -> dict[str, Any] | None:
        """Return an unfinished sampling as plain values, with the classifier it is about; None if it cannot be."""
        snapshot = sampling.snapshot()
        about = {"model": self.model, "engine": self.engine.engine_name}
        return None if snapshot is None else {**about, "sampling": snapshot}

    def conclude(self, sampling: ImageSampling[Verdict]) -> Certificate:
        """Return the certificate of a decided sampling."""
        if not sampling.decided:
            raise ValueError(f"image {sampling.index} is not decided yet")
        return self._certificate(sampling, sampling.decision.verdict(), sampling.packed_votes)

    def so_far(self, sampling: ImageSampling[Verdict]) -> Certificate | None:
        """Return the certificate of whoever stops at the look that was just made; None where there is none.

        Only to be asked at a look: what is counted later belongs to the next one.
        """
        verdict = sampling.decision.so_far()
        return None if verdict is None else self._certificate(sampling, verdict, sampling.votes_so_far())

    def _certificate(
        self, sampling: ImageSampling[Verdict], verdict: Verdict, votes: Mapping[str, bytes]
    ) -> Certificate:
        return Certificate(
            outcome=verdict.outcome,
            predicted=verdict.predicted,
            radius=verdict.radius,
            p_lower=verdict.p_lower,
            samples=sampling.votes_counted,
            evaluations=sampling.evaluations,
            counts=verdict.tallies[-1].counts,
            tallies=verdict.tallies,
            alpha=self.alpha,
            norm=self.noise.norm,
            noise=self.law,
            procedure=self.procedure,
            engine=self.engine.engine_name,
            model=self.model,
            seed=self.seed,
            index=sampling.index,
            seconds=sampling.seconds,
            precision=self.engine.precision,
            vote_log=votes,
        )
