"""Cohen et al. 2019, the first networks trained for randomized smoothing."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

COHEN = Family(
    summary="Cohen et al. 2019 (locuslab/smoothing)",
    holder="state_dict",
    normalisation=Normalisation.STANDARDISED,
    aliases={"cifar_resnet20": "resnet20", "cifar_resnet110": "resnet110"},
)
