"""Salman et al. 2019, SmoothAdv: images are centred and not divided by a standard deviation."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

SMOOTHADV = Family(
    summary="Salman et al. 2019 (Hadisalman/smoothing-adversarial)",
    holder="state_dict",
    normalisation=Normalisation.CENTRED,
    aliases={"cifar_resnet20": "resnet20", "cifar_resnet110": "resnet110"},
)
