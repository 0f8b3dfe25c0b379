"""Training on clean images: cross entropy without noise, CE(f(x), y)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective


@OBJECTIVES.register("standard")
@dataclass(frozen=True)
class StandardTraining(Objective):
    """Cross entropy on the clean image.

    Not a way to a certifiable model: it is the baseline that shows why noise is needed, and the classifier that a
    denoiser is put in front of.
    """

    summary: ClassVar[str] = "cross entropy on clean images, the baseline without noise"

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        return {"cross_entropy": cross_entropy(model(images), labels)}
