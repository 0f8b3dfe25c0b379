"""SmoothAdv (Salman et al. 2019): cross entropy on the noisy copies of an adversarial image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.adversarial import Adversarial
from smoothcert.training.losses.smoothed_probability import copies_cross_entropy
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class SmoothAdv(Adversarial):
    """Cross entropy on all m noisy copies of the image that an attack on the smoothed classifier found.

    Not trained on the attack's own loss: that takes the logarithm after the mean over copies, this one before.
    """

    summary: ClassVar[str] = "cross entropy on adversarial images under noise (Salman et al. 2019)"

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        logits = self.adversarial_logits(step)
        return {"cross_entropy": copies_cross_entropy(logits, step.labels)}
