"""ResNet-34 for 224x224 photographs."""

from __future__ import annotations

from smoothcert.networks.families.imagenet_resnet import of_depth

RESNET34 = of_depth(
    34,
    {
        "stem": (9_536, 118_013_952),
        "stage1": (221_952, 693_633_024),
        "stage2": (1_116_416, 873_463_808),
        "stage3": (6_822_400, 1_335_885_824),
        "stage4": (13_114_368, 642_252_800),
        "pool": (0, 0),
        "classifier": (513_000, 512_000),
    },
)
