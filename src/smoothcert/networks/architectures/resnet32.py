"""ResNet-32 for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET32 = of_depth(32)
