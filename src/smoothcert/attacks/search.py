"""One search of AutoAttack, with what it needs and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from smoothcert.attacks.mean_softmax import MeanSoftmax
from smoothcert.attacks.method import Part
from smoothcert.on_demand import torch


class Run(Protocol):
    """Carries out a search; whether anything was found is asked of the smoothed classifier."""

    def __call__(
        self, smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, *, eps: float
    ) -> torch.Tensor:
        """Return images in [0, 1] within l2 distance `eps`, (rows, ...)."""
        ...


@dataclass(frozen=True)
class Search:
    """A search and its published budget.

    Args:
        run: carries it out.
        part: from the number of classes to its budget and cost; a gradient is two passes.
        least_classes: fewer cannot be attacked this way.
        why_classes: what needs them.
        images_only: it moves windows of pixels, so vectors cannot be attacked.
    """

    run: Run
    part: Callable[[int], Part]
    least_classes: int = 2
    why_classes: str = ""
    images_only: bool = False
