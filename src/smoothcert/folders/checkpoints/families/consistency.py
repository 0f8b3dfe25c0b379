"""Jeong and Shin 2020, consistency regularisation; with baselines trained by the same code."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

CONSISTENCY = Family(
    summary="Jeong and Shin 2020 (jh-jeong/smoothing-consistency)",
    holder="state_dict",
    normalisation=Normalisation.STANDARDISED,  # MNIST's numbers are 0 and 1: its networks have none
    aliases={
        "cifar_resnet20": "resnet20",
        "cifar_resnet110": "resnet110",
        "cifar_densenet40": "densenet40",
    },
)
