"""DenseNet-BC of 100 layers for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.densenet import densenet_bc

DENSENET100 = densenet_bc(
    layers=16,
    compression=0.5,
    figures={
        "stem": (648, 663_552),
        "stage1": (175_680, 174_587_904),
        "stage2": (266_640, 84_049_920),
        "stage3": (322_080, 28_624_896),
        "pool": (684, 0),
        "classifier": (3_430, 3_420),
    },
)
