"""ResNet-32 for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET32 = of_depth(
    32,
    {
        "stem": (464, 442_368),
        "stage1": (23_360, 23_592_960),
        "stage2": (88_768, 22_544_384),
        "stage3": (353_664, 22_544_384),
        "pool": (0, 0),
        "classifier": (650, 640),
    },
)
