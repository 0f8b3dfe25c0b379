"""Jeong et al. 2021, SmoothMix; its code follows that of consistency."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

SMOOTHMIX = Family(
    summary="Jeong et al. 2021 (jh-jeong/smoothmix)",
    holder="state_dict",
    normalisation=Normalisation.STANDARDISED,
    aliases={"cifar_resnet20": "resnet20", "cifar_resnet110": "resnet110"},
)
