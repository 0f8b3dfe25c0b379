"""The price of a forward pass."""

from __future__ import annotations

import torch
from torch import nn


def forward_flops(model: nn.Module, image: torch.Tensor) -> int:
    """Return the floating-point operations of one image's forward pass: two per multiply-add, matrix work only.

    Counted by running one row; element-wise layers are left out, as in published tables.

    Args:
        model: the network, in eval mode.
        image: one image of the shape it takes.
    """
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        model(image.unsqueeze(0))
    return int(counter.get_total_flops())
