"""DenseNet-BC of 40 layers for 32x32 images, whose transitions keep all channels."""

from __future__ import annotations

from smoothcert.networks.families.densenet import densenet_bc

DENSENET40 = densenet_bc(
    layers=6,
    compression=1.0,
    figures={
        "stem": (648, 663_552),
        "stage1": (47_880, 47_775_744),
        "stage2": (69_480, 17_252_352),
        "stage3": (91_080, 5_640_192),
        "pool": (480, 0),
        "classifier": (2_410, 2_400),
    },
)
