"""Horvath et al. 2022, ensembles of networks trained by the methods of others."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

SMOOTHING_ENSEMBLES = Family(
    summary="Horvath et al. 2022 (eth-sri/smoothing-ensembles)",
    holder="state_dict",
    normalisation=Normalisation.STANDARDISED,
    aliases={"cifar_resnet20": "resnet20", "cifar_resnet110": "resnet110"},
    note="its SmoothAdv networks (--center_layer 1 there) are of family smoothadv: they are centred only",
)
