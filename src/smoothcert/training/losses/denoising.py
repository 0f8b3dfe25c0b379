"""What objectives for denoisers share: one noisy copy, denoised, and the logits that a frozen classifier gives it."""

from __future__ import annotations

from typing import ClassVar

from smoothcert import attacks, networks
from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import nn, torch
from smoothcert.training.objective import Objective, Trains
from smoothcert.training.steps.step import Step


class Denoising(Objective):
    """What objectives for denoisers share.

    Not an objective of its own. The classifier's weights are frozen by `Denoised`; gradients flow through it.
    """

    trains: ClassVar[Trains] = "denoiser"
    default_model: ClassVar[str | None] = "dncnn"


def parts_of(model: nn.Module) -> tuple[nn.Module, nn.Module]:
    """Return denoiser and classifier; refuse a model that is not made of the two."""
    both = networks.denoised_of(model)
    if both is None:
        raise InvalidArgumentError(
            f"this method trains a denoiser in front of a classifier; model must be a Denoised, "
            f"got {type(model).__name__}"
        )
    return both.denoiser, both.classifier


def denoised_copy(denoiser: nn.Module, step: Step) -> torch.Tensor:
    """Return one noisy copy of every image as the denoiser leaves it, (rows, ...)."""
    cleaned: torch.Tensor = denoiser(step.copies(1)[0])
    return cleaned


def logits_of(classifier: nn.Module, images: torch.Tensor) -> torch.Tensor:
    """Return the classifier's logits, (rows, classes), at least in float32."""
    return attacks.copy_logits(classifier, images.unsqueeze(0))[0]
