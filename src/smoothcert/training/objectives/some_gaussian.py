"""SOME on noisy images (Fang et al., Eq. (7)): every head's cross entropy, weighed by the previous head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.circular_teaching import (
    CircularTeaching,
    copies_head_logits,
    smoothed_losses,
    with_heads,
)
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class SomeGaussian(CircularTeaching):
    """Weighted cross entropy of every head on m noisy copies, and the cosine penalty.

    Not cross entropy of the heads' mean logits: every head must answer alone. The settings are those of
    `CircularTeaching`.
    """

    summary: ClassVar[str] = "heads on noisy images teach each other in a circle (SOME, Fang et al.)"

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        network = with_heads(step.model)
        logits = copies_head_logits(network, step.copies(self.m))
        return self.weighted_parts(
            network, {"cross_entropy": smoothed_losses(logits, step.labels)}, logits.shape[-1], step.moment
        )
