"""Training on noisy images (Cohen et al. 2019): cross entropy of one noisy copy, CE(f(x + e), y)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective


@OBJECTIVES.register("gaussian")
@dataclass(frozen=True)
class GaussianAugmentation(Objective):
    """Cross entropy on one noisy copy of each image.

    Not tied to Gaussian noise, whatever its name in the field: the noise law is an argument.
    """

    summary: ClassVar[str] = "cross entropy on one noisy copy (Cohen et al. 2019)"

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        return {"cross_entropy": cross_entropy(model(source.copies(images, 1)[0]), labels)}
