"""Denoisers trained on pixels: the mean squared difference of the denoised and the clean image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.denoising import Denoising, denoised_copy, parts_of
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class DenoiserMse(Denoising):
    """Mean squared error of one denoised noisy copy, per pixel.

    Not aware of the classifier: the same weights come out whichever stands behind, and only the choice of the best
    epoch asks it.
    """

    summary: ClassVar[str] = "a denoiser's squared error per pixel (Salman et al. 2020, MSE)"

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        denoiser, _ = parts_of(step.model)
        difference = denoised_copy(denoiser, step) - step.images  # float32, also where the copy is not
        return {"squared_error": difference.square().mean()}
