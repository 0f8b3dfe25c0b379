"""ResNet-50 for 224x224 photographs."""

from __future__ import annotations

from smoothcert.networks.families.imagenet_resnet import of_depth

RESNET50 = of_depth(50)
