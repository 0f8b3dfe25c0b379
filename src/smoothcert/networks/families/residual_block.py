"""Residual blocks (He et al. 2016): a body of convolutions beside a shortcut."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn


class ResidualBlock(nn.Module):
    """A body beside a shortcut, which is a 1x1 convolution with batch norm where the shape changes.

    Args:
        body: from `channels` to `width` channels, its sides divided by `stride`.
        channels: channels in.
        width: channels out.
        stride: of the body and of the shortcut.
    """

    is_residual: ClassVar[bool] = (
        True  # heads begin before the last stage of such blocks, unless told otherwise
    )

    def __init__(self, body: nn.Module, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = body
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the block's features."""
        return torch.relu(self.body(batch) + self.shortcut(batch))


def basic_block(channels: int, width: int, stride: int) -> ResidualBlock:
    """Return a block of two 3x3 convolutions with `width` channels; the first one has the stride."""
    body = nn.Sequential(
        nn.Conv2d(channels, width, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
    )
    return ResidualBlock(body, channels, width, stride)


def bottleneck_block(channels: int, width: int, stride: int) -> ResidualBlock:
    """Return a block of 1x1, 3x3, 1x1 convolutions, the first two with a quarter of `width` channels.

    The 3x3 convolution has the stride, as in today's weights; the first paper had it in the 1x1 before.
    """
    inner = width // 4
    body = nn.Sequential(
        nn.Conv2d(channels, inner, 1, bias=False),
        nn.BatchNorm2d(inner),
        nn.ReLU(),
        nn.Conv2d(inner, inner, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(inner),
        nn.ReLU(),
        nn.Conv2d(inner, width, 1, bias=False),
        nn.BatchNorm2d(width),
    )
    return ResidualBlock(body, channels, width, stride)
