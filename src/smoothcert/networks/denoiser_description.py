"""Size and price of a denoiser by name."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from smoothcert.networks.descriptions import ModelDescription
from smoothcert.networks.dncnn import DENOISERS, DnCNN
from smoothcert.networks.flops import forward_flops


def describe_denoiser(name: str, input_shape: Sequence[int]) -> ModelDescription:
    """Describe a denoiser of `DENOISERS` for images of some shape; the classifier behind it comes on top.

    Built on the meta device: no weight is drawn and nothing is computed.

    Args:
        name: in `DENOISERS`.
        input_shape: (channels, height, width).
    """
    size, shape = DENOISERS[name], tuple(input_shape)
    with torch.device("meta"):
        denoiser = DnCNN(shape[0], size.depth, size.width).eval()
        flops = forward_flops(denoiser, torch.empty(shape))
    return ModelDescription(
        name=name,
        summary=size.summary,
        input_shape=shape,
        least_side=1,
        num_classes=0,
        parameters=sum(weights.numel() for weights in denoiser.parameters()),
        multiply_adds=flops // 2,
        stages=(),
    )
