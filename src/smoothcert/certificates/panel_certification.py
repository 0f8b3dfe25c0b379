"""The certifications of several classifiers that answer the same noisy copies."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import torch

from smoothcert.certificates.certificate import Certificate, Verdict
from smoothcert.certificates.certification import Certification
from smoothcert.certificates.procedure import Plan
from smoothcert.sampling import PanelSampling, VoteSource


@dataclass(frozen=True, kw_only=True)
class PanelCertification(VoteSource):
    """One certification per classifier, from the same forward passes; each certificate is the one it alone would give.

    Args:
        parts: one per answer of the engine.

    The other arguments are those of `VoteSource`, shared by all parts.
    """

    parts: tuple[Certification, ...]

    @classmethod
    def of(cls, parts: Sequence[Certification]) -> Self:
        """Return the panel of certifications that have one source of votes."""
        shared = {field.name: getattr(parts[0], field.name) for field in fields(VoteSource)}
        return cls(parts=tuple(parts), **shared)

    @property
    def plan(self) -> Plan:
        """The procedure, bound to noise and alpha; the same for all parts."""
        return self.parts[0].plan

    def sampling(self, index: int, image: torch.Tensor, saved: Any = None) -> PanelSampling[Verdict]:
        """Return an image's samplings from the start, or from where `save` left them; as `Certification.sampling`."""
        if self._may_continue(saved):
            begun = self._from_start(index, image)
            with contextlib.suppress(ValueError):
                begun.restore([state["sampling"] for state in saved])
                return begun
        return self._from_start(index, image)

    def _may_continue(self, saved: Any) -> bool:
        if not isinstance(saved, list) or len(saved) != len(self.parts):
            return False
        return all(part.may_continue(state) for part, state in zip(self.parts, saved, strict=True))

    def _from_start(self, index: int, image: torch.Tensor) -> PanelSampling[Verdict]:
        return PanelSampling([part.sampling(index, image) for part in self.parts])

    def save(self, sampling: PanelSampling[Verdict]) -> list[dict[str, Any]] | None:
        """Return unfinished samplings as plain values, with their classifiers; None if they cannot be."""
        states = [part.save(own) for part, own in zip(self.parts, sampling.samplings, strict=True)]
        kept = [state for state in states if state is not None]
        return kept if len(kept) == len(states) else None

    def conclude(self, sampling: PanelSampling[Verdict]) -> tuple[Certificate, ...]:
        """Return the certificates of decided samplings, one per classifier."""
        return tuple(part.conclude(own) for part, own in zip(self.parts, sampling.samplings, strict=True))
