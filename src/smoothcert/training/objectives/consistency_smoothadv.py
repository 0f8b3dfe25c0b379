"""Consistency training on top of SmoothAdv (Jeong and Shin 2020, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.adversarial import Adversarial
from smoothcert.training.losses.checks import check_count
from smoothcert.training.losses.consistency_regulariser import TWO_COPIES, ConsistencyRegulariser
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class ConsistencySmoothAdv(Adversarial):
    """SmoothAdv whose noisy adversarial copies are drawn to one answer.

    Not a second draw: the copies that the cross entropy uses serve the regulariser too.

    Args:
        m: noisy copies per image, at least 2.
        steps: gradient steps T of the attack.
        eps: radius of the l2 ball, in pixel units; it warms up with the moment of training.
        attack: name in `ATTACKS`.
        lbd: weight lambda of the distance between the answers.
        eta: weight of the entropy of the mean answer; variant "kl" alone uses it.
        variant: "kl", "mse" or "kl-only".
    """

    summary: ClassVar[str] = "SmoothAdv whose noisy copies get one answer (Jeong and Shin 2020)"
    lbd: float = 1.0
    eta: float = 0.5
    variant: str = "kl"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("m", self.m, least=2, why=TWO_COPIES)
        self._regulariser()

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        logits = self.adversarial_logits(step)
        return {
            "cross_entropy": copies_cross_entropy(logits, step.labels),
            **self._regulariser().parts(logits),
        }

    def _regulariser(self) -> ConsistencyRegulariser:
        return ConsistencyRegulariser(self.lbd, self.eta, self.variant)
