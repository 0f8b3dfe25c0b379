"""Densely connected networks with bottlenecks for 32x32 images (DenseNet-BC, Huang et al. 2017)."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

from smoothcert.networks.architecture import Architecture, Figures
from smoothcert.on_demand import nn

_GROWTH = 12


def densenet(
    num_classes: int, input_shape: tuple[int, ...], *, layers: int, compression: float
) -> nn.Sequential:
    """Build a stem, three stages of dense layers (12 new channels each), global average, linear layer.

    A stage after the first begins with the transition, so that it changes the sides as a residual stage does.
    Convolutions start from He's normal law (fan in), the linear layer from torch's own.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 4 pixels high and wide.
        layers: dense layers per stage.
        compression: share of the channels that a transition keeps, in (0, 1]; at 1 it only pools.
    """
    from smoothcert.networks.families.dense_layer import DenseLayer  # a class that needs torch

    channels = 2 * _GROWTH
    parts: OrderedDict[str, nn.Module] = OrderedDict(
        stem=nn.Conv2d(input_shape[0], channels, 3, padding=1, bias=False)
    )
    for number in (1, 2, 3):
        stage: list[nn.Module] = []
        if number > 1:
            kept = int(channels * compression)
            stage += _transition(channels, kept)
            channels = kept
        for _ in range(layers):
            stage.append(DenseLayer(channels, _GROWTH))
            channels += _GROWTH
        parts[f"stage{number}"] = nn.Sequential(*stage)
    parts["pool"] = nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    parts["classifier"] = nn.Linear(channels, num_classes)
    network = nn.Sequential(parts)
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
    return network


def _transition(channels: int, kept: int) -> list[nn.Module]:
    """Return the layers between two stages: fewer channels where some are dropped, and half the sides."""
    if kept == channels:
        return [nn.AvgPool2d(2)]
    return [
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, kept, 1, bias=False),
        nn.AvgPool2d(2),
    ]


def densenet_bc(layers: int, compression: float, figures: Figures) -> Architecture:
    """Return the network with so many bottlenecks in each of its three stages.

    Args:
        layers: dense layers per stage, of two convolutions each.
        compression: share of the channels that a transition keeps.
        figures: its size and price.
    """
    return Architecture(
        summary=f"DenseNet-BC-{6 * layers + 4}, 3 x {layers} bottlenecks of 12 channels, for 32x32 images",
        input_shape=(3, 32, 32),
        build=partial(densenet, layers=layers, compression=compression),
        least_side=4,
        figures=figures,
    )
