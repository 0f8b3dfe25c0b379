"""AdvMacer: the MACER loss at the image that SmoothAdv's attack finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.arguments import check_switch
from smoothcert.on_demand import torch
from smoothcert.training.losses.adversarial import Adversarial
from smoothcert.training.losses.macer_loss import MacerLoss
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class AdvMacer(Adversarial):
    """Cross entropy and a hinge on the certified radius, both at the adversarial image.

    Not MACER's batch: as in SmoothAdv, the batch counts noisy copies.

    Args:
        m: noisy copies per image.
        steps: gradient steps T of the attack.
        eps: radius of the l2 ball, in pixel units; it warms up with the moment of training.
        attack: name in `ATTACKS`; "pgd" is the published one.
        lbd: weight lambda of the radius term.
        gamma: hinge of the radius term.
        beta: inverse temperature of the softmax that stands for the vote.
        deferred: leave the radius term out until the learning rate has dropped for the first time; networks
            without batch norm (LeNet) learn nothing under it from the start.
        fresh_noise: draw the noises of the loss anew after the attack, as the paper's Algorithm 1 does; False takes
            those of the attack, as SmoothAdv does.
    """

    summary: ClassVar[str] = "MACER's loss at SmoothAdv's adversarial images"
    m: int = 8
    lbd: float = 12.0
    gamma: float = 8.0
    beta: float = 16.0
    deferred: bool = False
    fresh_noise: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_switch("deferred", self.deferred)
        check_switch("fresh_noise", self.fresh_noise)
        self._loss()

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        logits = self.adversarial_logits(step, fresh_noise=self.fresh_noise)
        waiting = self.deferred and not step.moment.dropped
        return self._loss().parts(
            logits, step.labels, sigma=step.source.noise.std, lbd=0.0 if waiting else None
        )

    def _loss(self) -> MacerLoss:
        return MacerLoss(self.lbd, self.gamma, self.beta)
