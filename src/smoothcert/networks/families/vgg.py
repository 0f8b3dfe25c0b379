"""VGG networks (Simonyan and Zisserman 2015) with batch norm, for 32x32 images."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

from smoothcert.networks.architecture import Architecture, Figures
from smoothcert.on_demand import nn

_WIDTHS = (64, 128, 256, 512, 512)
CONVOLUTIONS: dict[int, tuple[int, ...]] = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""By depth: the number of convolutions in each stage."""


def vgg(num_classes: int, input_shape: tuple[int, ...], *, depth: int) -> nn.Sequential:
    """Build five stages of 3x3 convolutions with batch norm, each with a 2x2 max pool, and a linear layer.

    Not the ImageNet network: one linear layer instead of three, and no dropout. 14,728,266 parameters for
    depth 16 and 20,040,522 for 19 on 3x32x32 images with 10 classes. Weights start from torch's own laws.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 32 pixels high and wide.
        depth: 16 or 19 layers, of which the original's two hidden linear layers are left out.
    """
    parts: OrderedDict[str, nn.Module] = OrderedDict()
    channels = input_shape[0]
    for stage, (width, number) in enumerate(zip(_WIDTHS, CONVOLUTIONS[depth], strict=True), start=1):
        layers: list[nn.Module] = []
        for _ in range(number):
            # The bias does nothing before a batch norm; the published networks have it, so their weights fit.
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        parts[f"stage{stage}"] = nn.Sequential(*layers, nn.MaxPool2d(2))
    parts["pool"] = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    parts["classifier"] = nn.Linear(channels, num_classes)
    return nn.Sequential(parts)


def of_depth(depth: int, figures: Figures) -> Architecture:
    """Return the network with so many layers, a depth in `CONVOLUTIONS`.

    Args:
        depth: of layers.
        figures: its size and price.
    """
    return Architecture(
        summary=f"{sum(CONVOLUTIONS[depth])} 3x3 convolutions (to 512 channels) with batch norm, for 32x32 images",
        input_shape=(3, 32, 32),
        build=partial(vgg, depth=depth),
        least_side=32,
        figures=figures,
    )
