"""ResNet-8 for 32x32 images: nobody published it; small enough to try things out."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET8 = of_depth(
    8,
    {
        "stem": (464, 442_368),
        "stage1": (4_672, 4_718_592),
        "stage2": (14_528, 3_670_016),
        "stage3": (57_728, 3_670_016),
        "pool": (0, 0),
        "classifier": (650, 640),
    },
)
