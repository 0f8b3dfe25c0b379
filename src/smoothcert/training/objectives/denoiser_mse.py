"""Denoisers trained on pixels: the mean squared difference of the denoised and the clean image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.training.losses.denoising import Denoising, denoised_copy, parts_of
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment


@OBJECTIVES.register("denoiser-mse")
@dataclass(frozen=True)
class DenoiserMse(Denoising):
    """Mean squared error of one denoised noisy copy, per pixel.

    Not aware of the classifier: the same weights come out whichever stands behind, and only the choice of the best
    epoch asks it.
    """

    summary: ClassVar[str] = "a denoiser's squared error per pixel (Salman et al. 2020, MSE)"

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        denoiser, _ = parts_of(model)
        difference = denoised_copy(denoiser, images, source) - images  # float32, also where the copy is not
        return {"squared_error": difference.square().mean()}
