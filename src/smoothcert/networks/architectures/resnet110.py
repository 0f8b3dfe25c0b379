"""ResNet-110 for 32x32 images: what most papers certify CIFAR-10 with."""

from __future__ import annotations

from smoothcert.networks.families.cifar_resnet import of_depth

RESNET110 = of_depth(110)
