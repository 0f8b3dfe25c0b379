"""Everything that decides the votes and what they prove, fixed together before the first vote."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import torch

from smoothcert.certificates.certificate import Certificate
from smoothcert.certificates.identity import is_settled
from smoothcert.certificates.procedure import Plan, Trial
from smoothcert.engines import Engine, rows_in_cache
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import (
    CHUNK_VOTES,
    Journey,
    Sampler,
    WorkerPool,
    check_fixed_function,
    refuse_other_votes,
)
from smoothcert.visible import brief

_MOST_VALUES = 2**30  # of a batch: 4 GB


class _How(TypedDict):
    seed: int
    on_nan: str


@dataclass(frozen=True)
class Certification:
    """One way to certify images: makes their journeys, and certificates from finished journeys.

    Not tied to workers, batches or files: whoever runs it may stop, resume and spread it at will.

    Args:
        engine: executes the classifier, or a panel of several.
        noise: law of the noise.
        plan: the procedure, bound to noise and alpha.
        alpha: error probability per image.
        seed: seed of all streams.
        models: one digest or name per answer of the engine.
        procedure: description of the procedure, for the certificates.
        on_nan: what NaN logits do, see `Sampler`.
        images: how many there will be, for choices about speed.
        ensembles: one record per answer that is an ensemble, None for others; for manifests.
    """

    engine: Engine
    noise: NoiseLaw
    plan: Plan
    alpha: float
    seed: int
    models: tuple[str, ...]
    procedure: dict[str, Any]
    on_nan: str = "raise"
    images: int = 1
    ensembles: tuple[dict[str, Any] | None, ...] = ()

    def __post_init__(self) -> None:
        if len(self.models) != self.engine.answers:
            raise ValueError(
                f"{len(self.models)} models named, but the engine answers for {self.engine.answers}"
            )

    def check(self, images: Mapping[int, torch.Tensor], *, batch_size: int) -> None:
        """Refuse a model that is not a fixed function of an image, or an engine that answers otherwise than it.

        Most is done once per engine and size of batch.

        Args:
            images: the first images of the run, by index; one is enough.
            batch_size: most rows per forward pass of the run.
        """
        engine, how = self.engine, _How(seed=self.seed, on_nan=self.on_nan)
        image = next(iter(images.values()))
        rows = min(batch_size, max(self._planned_votes, 1))
        if (rows, self.on_nan) not in engine.probed:
            check_fixed_function(engine, self.noise, image, rows=rows, **how)
            engine.probed.add((rows, self.on_nan))
        refuse_other_votes(engine, self.noise, images, self.plan.phases[0].name, **how)

    @property
    def _planned_votes(self) -> int:
        return self.images * self.plan.planned_votes

    def pool(self, workers: int, batch_size: int) -> WorkerPool:
        """Return a pool of workers, to be entered: threads, or processes where threads must not share the model."""

        def make() -> Sampler:
            return Sampler(self.engine, self.noise, seed=self.seed, batch_size=batch_size, on_nan=self.on_nan)

        return WorkerPool(make, workers, votes_planned=self._planned_votes)

    def journey(self, index: int, image: torch.Tensor, saved: Any = None) -> Journey:
        """Return an image's journey from the start, or from where `save` left it.

        A state that other classifiers left behind is not used: their votes prove nothing about these. Nor is one of a
        classifier whose identity is not settled, which may have been exchanged since, nor one that is damaged: the
        image is drawn anew, which costs time and changes no vote.

        Args:
            index: the image's place in the keyed stream.
            image: the clean image.
            saved: what `save` returned, as it came from a file; None for none.
        """
        same = isinstance(saved, dict) and saved.get("models") == list(self.models)
        if same and all(map(is_settled, self.models)):
            begun = self._from_start(index, image)
            with contextlib.suppress(ValueError):
                begun.restore(saved.get("journey"))
                return begun
        return self._from_start(index, image)

    def _from_start(self, index: int, image: torch.Tensor) -> Journey:
        trials = [self.plan.start() for _ in self.models]
        return Journey(index, image, self.plan.phases, trials, self.engine.num_classes)

    def save(self, journey: Journey) -> dict[str, Any] | None:
        """Return an unfinished journey as plain values, with the classifiers it is about; None if it cannot be."""
        snapshot = journey.snapshot()
        return None if snapshot is None else {"models": list(self.models), "journey": snapshot}

    def certificates(self, journey: Journey) -> list[Certificate]:
        """Return the certificates of a decided journey, one per answer."""
        found = []
        answers = zip(self.models, journey.deciders, journey.spent, journey.ballots, strict=True)
        for model, decider, spent, ballots in answers:
            if spent is None:
                raise ValueError(f"image {journey.index} is not decided yet")
            verdict = _trial(decider).verdict()
            found.append(
                Certificate(
                    outcome=verdict.outcome,
                    predicted=verdict.predicted,
                    radius=verdict.radius,
                    p_lower=verdict.p_lower,
                    samples=spent.samples,
                    evaluations=spent.evaluations,
                    counts=verdict.tallies[-1].counts,
                    tallies=verdict.tallies,
                    alpha=self.alpha,
                    norm=self.noise.norm,
                    noise=self.noise.describe(),
                    procedure=self.procedure,
                    engine=self.engine.engine_name,
                    model=model,
                    seed=self.seed,
                    index=journey.index,
                    seconds=spent.seconds,
                    ballots=ballots,
                )
            )
        return found


def check_batch_size(batch_size: int | None, image: torch.Tensor, engine: Engine) -> int:
    """Return `batch_size` if it is a positive integer, or for None one that suits a core's cache and the engine."""
    if batch_size is None:
        return engine.gathers * rows_in_cache(image)
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InvalidArgumentError(f"batch_size must be a positive integer of rows, got {brief(batch_size)}")
    most = max(CHUNK_VOTES, _MOST_VALUES // max(image.numel(), 1))
    if batch_size > most:
        raise InvalidArgumentError(
            f"batch_size must be at most {most:,} rows of these images, got {brief(batch_size)}"
        )
    return batch_size


def _trial(decider: Any) -> Trial:
    assert isinstance(decider, Trial)
    return decider
