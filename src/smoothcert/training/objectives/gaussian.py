"""Training on noisy images (Cohen et al. 2019): cross entropy of one noisy copy, CE(f(x + e), y)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert.on_demand import torch
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Step


@dataclass(frozen=True, kw_only=True)
class GaussianAugmentation(Objective):
    """Cross entropy on one noisy copy of each image.

    Not tied to Gaussian noise, whatever its name in the field: the noise law is an argument.
    """

    summary: ClassVar[str] = "cross entropy on one noisy copy (Cohen et al. 2019)"

    @override
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        return {
            "cross_entropy": torch.nn.functional.cross_entropy(step.model(step.copies(1)[0]), step.labels)
        }
