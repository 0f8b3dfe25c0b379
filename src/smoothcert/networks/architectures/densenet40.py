"""DenseNet-BC of 40 layers for 32x32 images, whose transitions keep all channels."""

from __future__ import annotations

from smoothcert.networks.families.densenet import densenet_bc

DENSENET40 = densenet_bc(layers=6, compression=1.0)
