"""ResNet-18 for 224x224 photographs."""

from __future__ import annotations

from smoothcert.networks.families.imagenet_resnet import of_depth

RESNET18 = of_depth(
    18,
    {
        "stem": (9_536, 118_013_952),
        "stage1": (147_968, 462_422_016),
        "stage2": (525_568, 411_041_792),
        "stage3": (2_099_712, 411_041_792),
        "stage4": (8_393_728, 411_041_792),
        "pool": (0, 0),
        "classifier": (513_000, 512_000),
    },
)
