"""ResNet-110 for 32x32 images: what most papers certify CIFAR-10 with."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET110 = of_depth(
    110,
    {
        "stem": (464, 442_368),
        "stage1": (84_096, 84_934_656),
        "stage2": (330_048, 83_886_080),
        "stage3": (1_315_456, 83_886_080),
        "pool": (0, 0),
        "classifier": (650, 640),
    },
)
