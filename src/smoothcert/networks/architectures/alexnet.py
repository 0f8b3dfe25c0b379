"""AlexNet for 32x32 images: the five convolutions of the original and one linear layer."""

from __future__ import annotations

from collections import OrderedDict

from smoothcert.networks.architecture import Architecture
from smoothcert.on_demand import nn


def alexnet(num_classes: int, input_shape: tuple[int, ...]) -> nn.Sequential:
    """Build five convolutions (64, 192, 384, 256, 256) with ReLU, three max pools, global average, linear layer.

    Not the ImageNet network: it has no hidden linear layers and no dropout; 2,472,266 parameters on 3x32x32
    images with 10 classes. Weights start from torch's own laws.

    Args:
        num_classes: number of classes.
        input_shape: (channels, height, width), at least 29 pixels high and wide: 32 leaves one place.
    """
    stem = nn.Sequential(nn.Conv2d(input_shape[0], 64, 11, stride=4, padding=5), nn.ReLU(), nn.MaxPool2d(2))
    parts: OrderedDict[str, nn.Module] = OrderedDict(
        stem=stem,
        stage1=nn.Sequential(nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        stage2=nn.Sequential(nn.Conv2d(192, 384, 3, padding=1), nn.ReLU()),
        stage3=nn.Sequential(nn.Conv2d(384, 256, 3, padding=1), nn.ReLU()),
        stage4=nn.Sequential(nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        pool=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        classifier=nn.Linear(256, num_classes),
    )
    return nn.Sequential(parts)


ALEXNET = Architecture(
    summary="five convolutions (64 to 384 channels) and a linear layer, for 32x32 images",
    input_shape=(3, 32, 32),
    build=alexnet,
    least_side=29,
    figures={
        "stem": (23_296, 1_486_848),
        "stage1": (307_392, 4_915_200),
        "stage2": (663_936, 2_654_208),
        "stage3": (884_992, 3_538_944),
        "stage4": (590_080, 2_359_296),
        "pool": (0, 0),
        "classifier": (2_570, 2_560),
    },
)
