"""Stability training (Li et al. 2019): CE(f(x), y) + lambda CE(F(x), F(x + e))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import attacks
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_weight
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class StabilityTraining(Objective):
    """Cross entropy on the clean image, and the noisy answer drawn to the clean one.

    Not a teacher and a pupil: the gradient flows through both answers.

    Args:
        lbd: weight lambda of the stability term.
    """

    summary: ClassVar[str] = "clean cross entropy, noisy answers drawn to clean ones (Li et al. 2019)"
    lbd: float = 2.0

    def __post_init__(self) -> None:
        check_weight("lbd", self.lbd)

    @property
    @override
    def cost(self) -> float:
        return 2.0

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        # Two passes: mixed into one, batch norm would normalise noisy images by the statistics of clean ones.
        clean = attacks.copy_logits(step.model, step.images.unsqueeze(0))
        noisy = attacks.copy_logits(step.model, step.copies(1))
        between = -(clean.softmax(dim=-1) * noisy.log_softmax(dim=-1)).sum(dim=-1)
        return {
            "cross_entropy": copies_cross_entropy(clean, step.labels),
            "stability": self.lbd * between.mean(),
        }
