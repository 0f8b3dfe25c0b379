"""Training on clean images: cross entropy without noise, CE(f(x), y)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class StandardTraining(Objective):
    """Cross entropy on the clean image.

    Not a way to a certifiable model: it is the baseline that shows why noise is needed, and the classifier that a
    denoiser is put in front of.
    """

    summary: ClassVar[str] = "cross entropy on clean images, the baseline without noise"

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        return {"cross_entropy": torch.nn.functional.cross_entropy(step.model(step.images), step.labels)}
