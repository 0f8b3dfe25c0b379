"""ResNet-8 for 32x32 images: nobody published it; small enough to try things out."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET8 = of_depth(8)
