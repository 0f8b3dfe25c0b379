"""One step of a training as an objective sees it: the model, a batch, a source of noise, and the moment."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.on_demand import nn, torch
from smoothcert.training.steps.noise_source import NoiseSource


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


@dataclass(frozen=True)
class Step:
    """What a loss is a function of: all that an objective is given.

    Not a change of weights: that is the loop's, after the loss.

    Args:
        model: the network in train mode.
        images: clean images in pixel units, (rows, ...).
        labels: class indices, (rows,).
        source: the only source of randomness.
        moment: how far training has come; by default that of a training without warm-up, at its end.
    """

    model: nn.Module
    images: torch.Tensor
    labels: torch.Tensor
    source: NoiseSource
    moment: Moment = Moment()

    def copies(self, m: int) -> torch.Tensor:
        """Draw m noisy copies of every image, (m, rows, ...), in a new tensor."""
        return self.source.copies(self.images, m)

    def offsets(self, m: int) -> torch.Tensor:
        """Draw what m noisy copies add to every image, (m, rows, ...), for losses at moving images.

        Refused under noise that depends on the image: an objective that calls it says so by `moves_images`.
        """
        return self.source.offsets(self.images, m)
