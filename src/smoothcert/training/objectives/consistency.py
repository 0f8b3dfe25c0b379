"""Consistency training (Jeong and Shin 2020) on noisy images: CE + lambda mean_i KL(z || F_i) + eta H(z)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import attacks
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_count
from smoothcert.training.losses.consistency_regulariser import TWO_COPIES, ConsistencyRegulariser
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class Consistency(Objective):
    """Cross entropy on all noisy copies, and their answers drawn to each other.

    Not safe for any lambda: 25 and more make all answers the same on MNIST at sigma 1.

    Args:
        m: noisy copies per image, at least 2.
        lbd: weight lambda of the distance between the answers.
        eta: weight of the entropy of the mean answer; variant "kl" alone uses it.
        variant: "kl", "mse" (squared distance of two copies) or "kl-only" (without the entropy).
    """

    summary: ClassVar[str] = "noisy copies of an image get one answer (Jeong and Shin 2020)"
    m: int = 2
    lbd: float = 10.0
    eta: float = 0.5
    variant: str = "kl"

    def __post_init__(self) -> None:
        check_count("m", self.m, least=2, why=TWO_COPIES)
        self._regulariser()

    @property
    @override
    def copies(self) -> int:
        return self.m

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        logits = attacks.copy_logits(step.model, step.copies(self.m))
        return {
            "cross_entropy": copies_cross_entropy(logits, step.labels),
            **self._regulariser().parts(logits),
        }

    def _regulariser(self) -> ConsistencyRegulariser:
        return ConsistencyRegulariser(self.lbd, self.eta, self.variant)
