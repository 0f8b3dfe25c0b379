"""Residual networks for 32x32 images, 6n + 2 layers deep (He et al. 2016), with projection shortcuts."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

from smoothcert.networks.architecture import Architecture, Figures
from smoothcert.on_demand import nn

_WIDTHS = (16, 32, 64)


def cifar_resnet(num_classes: int, input_shape: tuple[int, ...], *, depth: int) -> nn.Sequential:
    """Build a stem, three stages of (depth - 2) / 6 blocks with 16, 32, 64 channels, global average, linear layer.

    Convolutions start from He's normal law (fan out), the linear layer from torch's own, as in the papers' networks.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 4 pixels high and wide.
        depth: number of layers, 6n + 2.
    """
    from smoothcert.networks.families.residual_block import basic_block  # a class that needs torch

    stem = nn.Sequential(
        nn.Conv2d(input_shape[0], _WIDTHS[0], 3, padding=1, bias=False), nn.BatchNorm2d(_WIDTHS[0]), nn.ReLU()
    )
    parts: OrderedDict[str, nn.Module] = OrderedDict(stem=stem)
    channels = _WIDTHS[0]
    for number, width in enumerate(_WIDTHS, start=1):
        blocks = []
        for block in range((depth - 2) // 6):
            blocks.append(basic_block(channels, width, stride=2 if block == 0 and number > 1 else 1))
            channels = width
        parts[f"stage{number}"] = nn.Sequential(*blocks)
    parts["pool"] = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    parts["classifier"] = nn.Linear(channels, num_classes)
    network = nn.Sequential(parts)
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return network


def of_depth(depth: int, figures: Figures) -> Architecture:
    """Return the network with so many layers, 6n + 2.

    Args:
        depth: of layers.
        figures: its size and price.
    """
    return Architecture(
        summary=f"residual network of {depth} layers (16, 32, 64 channels), for 32x32 images",
        input_shape=(3, 32, 32),
        build=partial(cifar_resnet, depth=depth),
        least_side=4,
        figures=figures,
        heads_begin="stage3",
    )
