"""Zhai et al. 2020, MACER: networks take images as they are."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

MACER = Family(
    summary="Zhai et al. 2020 (RuntianZ/macer)",
    holder="net",
    normalisation=Normalisation.NONE,
    is_second=False,
    aliases={"LeNet": "lenet"},
)
