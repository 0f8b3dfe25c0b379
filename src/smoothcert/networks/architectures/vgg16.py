"""VGG-16 with batch norm for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.vgg import of_depth

VGG16 = of_depth(16)
