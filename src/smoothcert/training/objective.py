"""What every training objective offers: named losses of a batch; there is one loop for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import nn

from smoothcert.noise import NoiseLaw
from smoothcert.registry import Registry


class Objective(ABC):
    """A loss to minimise: its settings, and a function of model and batch.

    Not a trainer: it steps nothing and keeps no state between batches.
    """

    @abstractmethod
    def loss(
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        noise: NoiseLaw,
        generator: torch.Generator,
    ) -> dict[str, torch.Tensor]:
        """Return the named parts of the loss, scalars whose sum is minimised.

        Args:
            model: the network in train mode.
            images: clean images in pixel units, (rows, ...).
            labels: class indices, (rows,).
            noise: the law to draw noisy copies from.
            generator: the only source of randomness.
        """


OBJECTIVES: Registry[type[Objective]] = Registry("method")
