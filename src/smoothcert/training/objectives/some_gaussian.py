"""SOME on noisy images (Fang et al., Eq. (7)): every head's cross entropy, weighed by the previous head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.training.losses.circular_teaching import (
    CircularTeaching,
    copies_head_logits,
    smoothed_losses,
    with_heads,
)
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment


@OBJECTIVES.register("some-gaussian")
@dataclass(frozen=True)
class CircularGaussian(CircularTeaching):
    """Weighted cross entropy of every head on m noisy copies, and the cosine penalty.

    Not cross entropy of the heads' mean logits: every head must answer alone. The settings are those of
    `CircularTeaching`.
    """

    summary: ClassVar[str] = "heads on noisy images teach each other in a circle (SOME, Fang et al.)"

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        network = with_heads(model)
        logits = copies_head_logits(network, source.copies(images, self.m))
        return self.taught(
            network, {"cross_entropy": smoothed_losses(logits, labels)}, logits.shape[-1], moment
        )
