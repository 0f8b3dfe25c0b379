"""MACER (Zhai et al. 2020): maximise the certified radius itself, without an attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import attacks
from smoothcert.arguments import check_switch
from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_count
from smoothcert.training.losses.macer_loss import MacerLoss
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class Macer(Objective):
    """Cross entropy of the smoothed probability, and a hinge on the radius of images that are right.

    Not limited to Gaussian noise, though the radius in its loss is the Gaussian one: other laws enter by their
    standard deviation.

    Args:
        m: noisy copies per image; the batch counts images, each with m copies.
        lbd: weight lambda of the radius term.
        gamma: hinge of the radius term.
        beta: inverse temperature of the softmax that stands for the vote.
        deferred: leave the radius term out until the learning rate has dropped for the first time.
    """

    summary: ClassVar[str] = "cross entropy and a hinge on the certified radius (Zhai et al. 2020)"
    batch_counts_images: ClassVar[bool] = True
    m: int = 16
    lbd: float = 12.0
    gamma: float = 8.0
    beta: float = 16.0
    deferred: bool = False

    def __post_init__(self) -> None:
        check_count("m", self.m)
        check_switch("deferred", self.deferred)
        self._loss()

    @property
    @override
    def copies(self) -> int:
        return self.m

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        logits = attacks.copy_logits(step.model, step.copies(self.m))
        waiting = self.deferred and not step.moment.dropped
        return self._loss().parts(
            logits, step.labels, sigma=step.source.noise.std, lbd=0.0 if waiting else None
        )

    def _loss(self) -> MacerLoss:
        return MacerLoss(self.lbd, self.gamma, self.beta)
