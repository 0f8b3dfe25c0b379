"""DenseNet-BC of 100 layers for 32x32 images."""

from __future__ import annotations

from smoothcert.networks.families.densenet import densenet_bc

DENSENET100 = densenet_bc(layers=16, compression=0.5)
