"""Training on noisy images (Cohen et al. 2019): cross entropy of one noisy copy, CE(f(x + e), y)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smoothcert.noise import NoiseLaw
from smoothcert.training.objective import OBJECTIVES, Objective


@OBJECTIVES.register("gaussian")
@dataclass(frozen=True)
class GaussianAugmentation(Objective):
    """Cross entropy on one noisy copy of each image.

    Not tied to Gaussian noise, whatever its name in the field: the noise law is an argument.
    """

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        noise: NoiseLaw,
        generator: torch.Generator,
    ) -> dict[str, torch.Tensor]:
        noisy = torch.empty_like(images)
        noise.perturb(images, noisy, generator)  # a batch of images broadcasts like one image
        return {"cross_entropy": cross_entropy(model(noisy), labels)}
