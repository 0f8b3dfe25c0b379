"""A small convolutional network: trains on 8x8 digits in seconds."""

from __future__ import annotations

from smoothcert.networks.architecture import Architecture
from smoothcert.on_demand import nn


def convnet(num_classes: int, input_shape: tuple[int, ...]) -> nn.Module:
    """Build it; see `ConvNet`."""
    from smoothcert.networks.families.convnet import ConvNet  # a class that needs torch

    return ConvNet(num_classes, input_shape)


CONVNET = Architecture(
    summary="three 3x3 convolutions (8, 16, 16) with batch norm, and a linear layer",
    input_shape=(1, 8, 8),
    build=convnet,
    least_side=4,
    figures={
        "stage1": (88, 4_608),
        "stage2": (1_184, 18_432),
        "stage3": (2_336, 9_216),
        "pool": (0, 0),
        "classifier": (650, 640),
    },
)
