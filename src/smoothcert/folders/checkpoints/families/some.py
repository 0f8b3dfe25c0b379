"""Fang et al. 2022, SOME: several heads on one trunk."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

SOME = Family(
    summary="Fang et al. 2022 (fanghenshaometeor/smoothed-multihead-ensemble)",
    holder="state_dict",
    normalisation=Normalisation.STANDARDISED,
    heads=True,
    aliases={"R20": "resnet20", "R110": "resnet110", "R50": "resnet50"},
)
