"""How large a model is."""

from __future__ import annotations

import torch
from torch import nn

from smoothcert.networks.composite import whole_parts
from smoothcert.networks.flops import forward_flops
from smoothcert.networks.onnx_files.network import OnnxNetwork, holds_onnx


def parameters_of(model: nn.Module) -> int:
    """Return the numbers in a model's weights, frozen ones and those of ONNX files included."""
    files = sum(part.graph.parameters for part in model.modules() if isinstance(part, OnnxNetwork))
    return files + sum(weights.numel() for weights in model.parameters())


def multiply_adds_of(model: nn.Module, image: torch.Tensor) -> int | None:
    """Return the multiply-adds of one image's pass, all members asked; None where they cannot be counted.

    Args:
        model: in eval mode.
        image: one image of the shape it takes.
    """
    if holds_onnx(model):
        return None
    try:
        return sum(forward_flops(part, seen) for part, seen in whole_parts(model, image)) // 2
    except Exception:  # code of the user's own
        return None
