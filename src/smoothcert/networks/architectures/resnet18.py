"""ResNet-18 for 224x224 photographs."""

from __future__ import annotations

from smoothcert.networks.families.imagenet_resnet import of_depth

RESNET18 = of_depth(18)
