"""Liu et al. 2020, SWEEN: candidates of many architectures, which take images as they are."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

SWEEN = Family(
    summary="Liu et al. 2020 (SWEEN-author/SWEEN)",
    holder="net",
    normalisation=Normalisation.NONE,
    is_second=False,
    aliases={"lenet": "lenet-cifar", "densenet": "densenet100"},
    holdout=2_000,
)
