"""The first layer of every network: channel normalisation, so that noise and radii stay in pixel units."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief


class Normalize(nn.Module):
    """Subtract the mean and divide by the standard deviation, channel by channel.

    Not trained: both are buffers, saved with the weights. Without arguments it changes nothing.

    Args:
        input_shape: shape of one image; its first number is the number of channels.
        mean: one value per channel, or one for all, in pixel units; default 0.
        std: likewise, positive; default 1.
    """

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(
        self,
        input_shape: Sequence[int],
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("mean", _per_channel("mean", mean or (0.0,), input_shape))
        self.register_buffer("std", _per_channel("std", std or (1.0,), input_shape))
        least = torch.finfo(torch.float32).tiny
        if any(value < least for value in std or ()):  # not the tensor, which may be on the meta device
            raise InvalidArgumentError(f"std must be positive in every channel, got {brief(std)}")

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the normalised batch, of the same shape."""
        return (batch - self.mean) / self.std


def with_normalisation(
    network: nn.Module,
    input_shape: Sequence[int],
    mean: Sequence[float] | None,
    std: Sequence[float] | None,
) -> nn.Sequential:
    """Put the first layer before a network; the layers are called "normalize" and "network".

    Args:
        network: takes normalised batches.
        input_shape: as for `Normalize`.
        mean: as for `Normalize`.
        std: as for `Normalize`.
    """
    return nn.Sequential(OrderedDict(normalize=Normalize(input_shape, mean, std), network=network))


def normalisation_of(model: object) -> Normalize | None:
    """Return the first layer of a model, if it is one of this package's that normalises; None if it is not seen."""
    first = getattr(model, "normalize", None)
    return first if isinstance(first, Normalize) else None


def _per_channel(name: str, values: Sequence[float], input_shape: Sequence[int]) -> torch.Tensor:
    """Return values of shape (channels, 1, .., 1), which broadcast over a batch of images."""
    channels, *rest = input_shape
    largest = torch.finfo(torch.float32).max
    if len(values) not in (1, channels) or not all(-largest <= value <= largest for value in values):
        raise InvalidArgumentError(
            f"{name} must be 1 or {channels} finite numbers for images of shape {tuple(input_shape)}, "
            f"got {brief(values)}"
        )
    spread = [float(value) for value in values] * (channels if len(values) == 1 else 1)
    return torch.tensor(spread, dtype=torch.float32).reshape(channels, *(1 for _ in rest))
