"""What every training objective offers: named losses of a batch; there is one loop for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from smoothcert.registry import Table
from smoothcert.training.noise_source import NoiseSource


@dataclass(frozen=True)
class Moment:
    """How far training has come, as far as an objective may know.

    Args:
        warm: share of the warm-up that is done, in (0, 1]; 1 from its end on.
        dropped: whether the learning rate has dropped for the first time.
        epoch: number of the epoch, from 1.
        epochs: number of epochs of the whole training.
    """

    warm: float = 1.0
    dropped: bool = True
    epoch: int = 1
    epochs: int = 1


class Objective(ABC):
    """A loss to minimise: its settings, and a function of model and batch.

    Not a trainer: it steps nothing and keeps no state between batches. Subclasses are frozen dataclasses whose
    fields are the method's hyper-parameters.
    """

    summary: ClassVar[str]  # one line for listings
    trains: ClassVar[str] = "network"  # or "members" of an ensemble, or "denoiser" before a classifier
    batch_counts_images: ClassVar[bool] = False  # else the stated batch counts noisy copies
    moves_images: ClassVar[bool] = (
        False  # under noise that stays: possible where it does not depend on the image
    )
    least_heads: ClassVar[int] = 1  # more where the loss needs a `MultiHead`

    @property
    def copies(self) -> int:
        """Noisy copies drawn per image, m."""
        return 1

    @property
    def cost(self) -> float:
        """Training passes per image; a pass for the gradient at the input alone counts two thirds."""
        return float(self.copies)

    @abstractmethod
    def loss(
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        source: NoiseSource,
        moment: Moment,
    ) -> dict[str, torch.Tensor]:
        """Return the named parts of the loss, scalars whose sum is minimised.

        Args:
            model: the network in train mode.
            images: clean images in pixel units, (rows, ...).
            labels: class indices, (rows,).
            source: the only source of randomness.
            moment: how far training has come.
        """


OBJECTIVES: Table[type[Objective]] = Table("method")
