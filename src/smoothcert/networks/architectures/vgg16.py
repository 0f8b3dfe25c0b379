"""VGG-16 with batch norm for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.vgg import of_depth

VGG16 = of_depth(
    16,
    {
        "stage1": (38_976, 39_518_208),
        "stage2": (221_952, 56_623_104),
        "stage3": (1_476_864, 94_371_840),
        "stage4": (5_902_848, 94_371_840),
        "stage5": (7_082_496, 28_311_552),
        "pool": (0, 0),
        "classifier": (5_130, 5_120),
    },
)
