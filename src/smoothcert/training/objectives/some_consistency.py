"""SOME on Consistency (Fang et al., Eq. (9)): every head's cross entropy and regulariser, weighed together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_count
from smoothcert.training.losses.circular_teaching import (
    CircularTeaching,
    copies_head_logits,
    smoothed_losses,
    with_heads,
)
from smoothcert.training.losses.consistency_regulariser import TWO_COPIES, ConsistencyRegulariser
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class SomeConsistency(CircularTeaching):
    """Weighted cross entropy and consistency of every head, whose mean answer z is its own, and the cosine penalty.

    Not agreement between heads: the copies of one head are compared. Gradients flow through z (the published code
    stops them there, and then the entropy of z has none at all).

    Args:
        lbd: weight of the distance between a head's answers.
        eta: weight of the entropy of its mean answer; variant "kl" alone uses it.
        variant: "kl", "mse" or "kl-only".

    The other settings are those of `CircularTeaching`; m is at least 2.
    """

    summary: ClassVar[str] = "heads trained for consistency teach each other in a circle (SOME)"
    lbd: float = 10.0
    eta: float = 0.5
    variant: str = "kl"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("m", self.m, least=2, why=TWO_COPIES)
        self._regulariser()

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        network = with_heads(step.model)
        logits = copies_head_logits(network, step.copies(self.m))
        terms = {"cross_entropy": smoothed_losses(logits, step.labels)}
        of_heads = [self._regulariser().per_image(of_head) for of_head in logits]
        terms |= {name: torch.stack([one[name] for one in of_heads]) for name in of_heads[0]}
        return self.weighted_parts(network, terms, logits.shape[-1], step.moment)

    def _regulariser(self) -> ConsistencyRegulariser:
        return ConsistencyRegulariser(self.lbd, self.eta, self.variant)
