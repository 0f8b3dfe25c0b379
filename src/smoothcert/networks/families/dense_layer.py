"""The layer that densely connected networks are made of."""

from __future__ import annotations

import torch
from torch import nn

_BOTTLENECK = 4


class DenseLayer(nn.Module):
    """Batch norm, 1x1 convolution, batch norm, 3x3 convolution; the result is appended to what came in.

    Args:
        channels: channels in; `growth` more come out.
        growth: channels added; the 1x1 convolution makes four times as many.
    """

    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        inner = _BOTTLENECK * growth
        self.body = nn.Sequential(
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(),
            nn.Conv2d(inner, growth, 3, padding=1, bias=False),
        )

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the channels that came in, then the new ones."""
        return torch.cat((batch, self.body(batch)), dim=1)
