"""Consistency training (Jeong and Shin 2020) on noisy images: CE + lambda mean_i KL(z || F_i) + eta H(z)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.attacks import copy_logits
from smoothcert.training.checks import check_count
from smoothcert.training.losses.consistency_regulariser import ConsistencyRegulariser
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective

TWO_COPIES = ", because consistency compares the copies of one image"


@OBJECTIVES.register("consistency")
@dataclass(frozen=True)
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
    def copies(self) -> int:  # noqa: D102
        return self.m

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        logits = copy_logits(model, source.copies(images, self.m))
        return {"cross_entropy": copies_cross_entropy(logits, labels), **self._regulariser().parts(logits)}

    def _regulariser(self) -> ConsistencyRegulariser:
        return ConsistencyRegulariser(self.lbd, self.eta, self.variant)
