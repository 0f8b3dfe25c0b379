"""The narrower LeNet for CIFAR."""

from __future__ import annotations

from functools import partial

from smoothcert.networks.architecture import Architecture
from smoothcert.networks.families.lenet import lenet

LENET_CIFAR = Architecture(
    summary="two 5x5 convolutions (6, 16) and hidden layers of 120 and 84, for 32x32 images",
    input_shape=(3, 32, 32),
    build=partial(lenet, widths=(6, 16), hidden=(120, 84)),
    least_side=16,
    figures={
        "stage1": (456, 352_800),
        "stage2": (2_416, 240_000),
        "stage3": (48_120, 48_000),
        "stage4": (10_164, 10_080),
        "classifier": (850, 840),
    },
)
