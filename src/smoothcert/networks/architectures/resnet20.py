"""ResNet-20 for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET20 = of_depth(
    20,
    {
        "stem": (464, 442_368),
        "stage1": (14_016, 14_155_776),
        "stage2": (51_648, 13_107_200),
        "stage3": (205_696, 13_107_200),
        "pool": (0, 0),
        "classifier": (650, 640),
    },
)
