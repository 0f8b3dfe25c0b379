"""ResNet-26 for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET26 = of_depth(
    26,
    {
        "stem": (464, 442_368),
        "stage1": (18_688, 18_874_368),
        "stage2": (70_208, 17_825_792),
        "stage3": (279_680, 17_825_792),
        "pool": (0, 0),
        "classifier": (650, 640),
    },
)
