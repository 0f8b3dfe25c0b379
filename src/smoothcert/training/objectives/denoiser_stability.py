"""Denoisers trained on the classifier's own answers: cross entropy with the class it gives the clean image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.losses.denoising import Denoising, denoised_copy, logits_of, parts_of
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class DenoiserStability(Denoising):
    """Cross entropy of one denoised noisy copy with the class that the frozen classifier gives the clean image.

    Not a use of labels: images without any do as well. The clean image goes to the classifier as it is, not through
    the denoiser, so the target never moves.
    """

    summary: ClassVar[str] = (
        "a frozen classifier's noisy answers drawn to its clean ones (Salman et al. 2020)"
    )

    @property
    @override
    def cost(self) -> float:
        return 1.0  # the clean pass is the classifier's alone, without a gradient

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        denoiser, classifier = parts_of(step.model)
        with torch.no_grad():
            targets = logits_of(classifier, step.images).argmax(dim=-1)
        logits = logits_of(classifier, denoised_copy(denoiser, step))
        return {"stability": torch.nn.functional.cross_entropy(logits, targets)}
