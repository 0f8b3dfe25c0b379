"""Denoised smoothing (Salman et al. 2020): a denoiser in front of a classifier that knows no noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks.composite import Composite, evaluations_of, packages_of, surrogate_of
from smoothcert.networks.reading.answers import answer_of


class Denoised(Composite):
    """A denoiser and a classifier as one classifier of noisy images.

    Not a training of the classifier: it stays in eval mode with frozen weights whatever mode this module is put into,
    so that its batch norms keep their statistics while the denoiser learns. The two together are a fixed function of
    the noisy image, which is what a certificate is about.

    Args:
        denoiser: batch of images -> batch of the same shape, in pixel units.
        classifier: batch of images -> logits; frozen here.
    """

    def __init__(self, denoiser: nn.Module, classifier: nn.Module) -> None:
        super().__init__()
        self.denoiser = denoiser
        self.classifier = classifier.eval().requires_grad_(False)
        self.training = denoiser.training

    @property
    def evaluations_per_vote(self) -> int:
        """Most evaluations of the classifier that one vote can cost; the denoiser, like a trunk, is not counted."""
        return evaluations_of(self.classifier)

    def train(self, mode: bool = True) -> Self:
        """Put the denoiser into a mode; the classifier stays in eval mode."""
        super().train(mode)
        self.classifier.eval()
        return self

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the classifier's logits for the denoised images, (rows, classes)."""
        return answer_of(self.classifier, self.denoiser(batch))

    def surrogate(self) -> nn.Module:
        """Return the denoiser before the classifier's surrogate."""
        classifier = surrogate_of(self.classifier)
        return self if classifier is self.classifier else Denoised(self.denoiser, classifier)

    def packages(self) -> dict[str, str]:
        """Return those that the classifier is made with."""
        return packages_of(self.classifier)

    def stored_part(self) -> nn.Module:
        """Return the denoiser; the classifier stays in its own folder."""
        return self.denoiser


def denoised_of(model: nn.Module) -> Denoised | None:
    """Return a model that is a denoiser before a classifier; None for any other."""
    return model if isinstance(model, Denoised) else None


def refuse_shapes(denoiser: nn.Module, classifier_shape: Sequence[int], images: Sequence[int]) -> None:
    """Refuse a denoiser that changes the shape of images, or a classifier that takes another; runs a black image.

    Args:
        denoiser: batch of images -> batch of images.
        classifier_shape: shape of one image that the classifier takes.
        images: shape of one image that is to be denoised.
    """
    if tuple(classifier_shape) != tuple(images):
        raise InvalidArgumentError(
            f"the classifier takes images of shape {tuple(classifier_shape)}, but those to denoise have shape "
            f"{tuple(images)}; choose a classifier trained on the same data set"
        )
    weights = next(denoiser.parameters(), torch.empty(()))
    training = denoiser.training
    denoiser.eval()  # no statistics of a black image
    try:
        with torch.no_grad():
            cleaned = denoiser(torch.zeros(1, *images, dtype=weights.dtype, device=weights.device))
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:160]
        raise InvalidArgumentError(
            f"the denoiser does not take images of shape {tuple(images)}: {reason}"
        ) from error
    finally:
        denoiser.train(training)
    if tuple(cleaned.shape[1:]) != tuple(images):
        raise InvalidArgumentError(
            f"the denoiser turns images of shape {tuple(images)} into {tuple(cleaned.shape[1:])}; it must keep the "
            "shape, because the classifier takes no other"
        )
