"""Residual networks for 224x224 photographs (He et al. 2016)."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

from smoothcert.networks.architecture import Architecture, Figures
from smoothcert.on_demand import nn

_STEM_WIDTH = 64

Layout = tuple[bool, tuple[int, ...], tuple[int, ...]]

LAYOUTS: dict[int, Layout] = {
    18: (False, (64, 128, 256, 512), (2, 2, 2, 2)),
    34: (False, (64, 128, 256, 512), (3, 4, 6, 3)),
    50: (True, (256, 512, 1024, 2048), (3, 4, 6, 3)),
}
"""By depth: whether blocks are bottlenecks, the channels of the four stages, and their numbers of blocks."""


def imagenet_resnet(num_classes: int, input_shape: tuple[int, ...], *, depth: int) -> nn.Sequential:
    """Build a 7x7 stem with a max pool, four stages of residual blocks, global average and a linear layer.

    Not the networks for 32x32 images (`cifar_resnet`): the sides shrink 32 times. Convolutions start from
    He's normal law (fan out), the linear layer from torch's own.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 32 pixels high and wide.
        depth: 18, 34 or 50 layers.
    """
    from smoothcert.networks.families import residual_block  # its class needs torch

    bottlenecks, widths, numbers = LAYOUTS[depth]
    make_block = residual_block.bottleneck_block if bottlenecks else residual_block.basic_block
    stem = nn.Sequential(
        nn.Conv2d(input_shape[0], _STEM_WIDTH, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(_STEM_WIDTH),
        nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1),
    )
    parts: OrderedDict[str, nn.Module] = OrderedDict(stem=stem)
    channels = _STEM_WIDTH
    for stage, (width, number) in enumerate(zip(widths, numbers, strict=True), start=1):
        blocks = []
        for block in range(number):
            blocks.append(make_block(channels, width, 2 if block == 0 and stage > 1 else 1))
            channels = width
        parts[f"stage{stage}"] = nn.Sequential(*blocks)
    parts["pool"] = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    parts["classifier"] = nn.Linear(channels, num_classes)
    network = nn.Sequential(parts)
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return network


def of_depth(depth: int, figures: Figures) -> Architecture:
    """Return the network with so many layers, a depth in `LAYOUTS`.

    Args:
        depth: of layers.
        figures: its size and price.
    """
    _, widths, _ = LAYOUTS[depth]
    return Architecture(
        summary=f"residual network of {depth} layers (to {widths[-1]} channels), for 224x224 images",
        input_shape=(3, 224, 224),
        build=partial(imagenet_resnet, depth=depth),
        least_side=32,
        num_classes=1000,
        figures=figures,
        heads_begin="stage4",
    )
