"""ResNet-34 for 224x224 photographs."""

from __future__ import annotations

from smoothcert.networks.families.imagenet_resnet import of_depth

RESNET34 = of_depth(34)
