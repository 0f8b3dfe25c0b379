"""VGG-19 with batch norm for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.vgg import of_depth

VGG19 = of_depth(
    19,
    {
        "stage1": (38_976, 39_518_208),
        "stage2": (221_952, 56_623_104),
        "stage3": (2_067_456, 132_120_576),
        "stage4": (8_263_680, 132_120_576),
        "stage5": (9_443_328, 37_748_736),
        "pool": (0, 0),
        "classifier": (5_130, 5_120),
    },
)
