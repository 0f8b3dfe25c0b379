"""Denoisers trained on labels: cross entropy of the frozen classifier behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from smoothcert.training.losses.denoising import Denoising, denoised_copy, logits_of, parts_of
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment


@OBJECTIVES.register("denoiser-ce")
@dataclass(frozen=True)
class DenoiserCe(Denoising):
    """Cross entropy of one denoised noisy copy with the label, through the frozen classifier.

    Not a training of the classifier: the gradient passes through it to the denoiser.
    """

    summary: ClassVar[str] = "cross entropy of a frozen classifier behind a denoiser (Salman et al. 2020, CE)"

    def loss(  # noqa: D102
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        denoiser, classifier = parts_of(model)
        logits = logits_of(classifier, denoised_copy(denoiser, images, source))
        return {"cross_entropy": cross_entropy(logits, labels)}
