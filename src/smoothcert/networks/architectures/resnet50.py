"""ResNet-50 for 224x224 photographs."""

from __future__ import annotations

from smoothcert.networks.families.imagenet_resnet import of_depth

RESNET50 = of_depth(
    50,
    {
        "stem": (9_536, 118_013_952),
        "stage1": (215_808, 667_942_912),
        "stage2": (1_219_584, 1_027_604_480),
        "stage3": (7_098_368, 1_464_336_384),
        "stage4": (14_964_736, 809_238_528),
        "pool": (0, 0),
        "classifier": (2_049_000, 2_048_000),
    },
)
