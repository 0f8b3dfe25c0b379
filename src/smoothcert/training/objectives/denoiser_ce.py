"""Denoisers trained on labels: cross entropy of the frozen classifier behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.denoising import Denoising, denoised_copy, logits_of, parts_of
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class DenoiserCe(Denoising):
    """Cross entropy of one denoised noisy copy with the label, through the frozen classifier.

    Not a training of the classifier: the gradient passes through it to the denoiser.
    """

    summary: ClassVar[str] = "cross entropy of a frozen classifier behind a denoiser (Salman et al. 2020, CE)"

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        denoiser, classifier = parts_of(step.model)
        logits = logits_of(classifier, denoised_copy(denoiser, step))
        return {"cross_entropy": torch.nn.functional.cross_entropy(logits, step.labels)}
