"""ResNet-20 for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET20 = of_depth(20)
