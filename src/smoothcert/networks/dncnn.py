"""DnCNN (Zhang et al. 2017): a plain convolutional network that answers with the noise of an image."""

from __future__ import annotations

import torch
from torch import nn

from smoothcert.arguments import check_whole

_LEAST_DEPTH = 2


class DnCNN(nn.Module):
    """A denoiser: image minus the noise that 3x3 convolutions see in it.

    Not a classifier, and not a projection to [0, 1]: what leaves it may lie outside, as noisy images do. Until it is
    trained it changes nothing, exactly: the last convolution starts at zero, so that a classifier behind it begins
    with the images it knows.

    Args:
        channels: of the images.
        depth: convolutions in all, at least 2; all but the first and the last have batch norm.
        width: channels between them.
    """

    def __init__(self, channels: int, depth: int = 17, width: int = 64) -> None:
        super().__init__()
        check_size(depth, width)
        self.channels, self.depth, self.width = channels, depth, width
        layers: list[nn.Module] = [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            # No bias: the batch norm that follows has one.
            layers += [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        last = nn.Conv2d(width, channels, 3, padding=1, bias=False)
        nn.init.zeros_(last.weight)
        self.noise = nn.Sequential(*layers, last)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the images without the noise, of the same shape, in pixel units."""
        cleaned: torch.Tensor = batch - self.noise(batch)
        return cleaned


def check_size(depth: int, width: int) -> None:
    """Refuse a denoiser without a first and a last convolution, or without channels between them."""
    for name, value, least in (("depth", depth, _LEAST_DEPTH), ("width", width, 1)):
        check_whole(f"{name} of a denoiser", value, least, what=f"a whole number, {least} or more")
