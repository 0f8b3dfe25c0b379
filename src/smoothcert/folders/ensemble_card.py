"""The card of an ensemble: which members it has and how they vote."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from smoothcert.ensembles import HoldoutUse
from smoothcert.fields import STRICT, Digest, Place, Text
from smoothcert.folders.card_fields import Classes, ClassNames, Noise, Shape
from smoothcert.networks import MOST_HEADS

MOST_MEMBERS = 256
"""Networks in an ensemble, members of members included."""


class MemberEntry(BaseModel):
    """One member: its folder, relative to the ensemble's, and the digest it must have."""

    model_config = STRICT

    path: Place
    digest: Text


class AdaptiveEntry(BaseModel):
    """The test of adaptive prediction; arguments as for `AdaptiveEnsemble`."""

    model_config = STRICT

    threshold: float = 0.999
    alpha: float = 0.05


class EnsembleCard(BaseModel):
    """What an ensemble is; the content of `ensemble.json`.

    Not a copy of its members: their weights stay in their own folders.

    Args:
        format: version of this layout.
        method: always "ensemble", where a model's card names its training objective.
        rule: name in `VOTING_RULES`.
        weights: one number per member as given by the user, or None for equal ones.
        members: folders and digests, in order.
        num_classes: number of classes, of every member.
        input_shape: shape of one image, of every member.
        noise: what `NoiseLaw.describe` returned, of every member.
        class_names: one name per class, of every member.
        digest: `model_digest` of the ensemble.
        consensus: members whose agreement spares the others, or None to ask all.
        adaptive: when to stop asking by adaptive prediction, or None.
        heads: numbers of the heads that vote, in order, where the one member is a multi-head network; else None.
        fitted: choices that were made on labelled images, of members that are ensembles too.
    """

    model_config = STRICT

    format: Literal[1] = 1
    method: Literal["ensemble"] = "ensemble"
    rule: Text
    weights: tuple[float, ...] | None
    members: tuple[MemberEntry, ...] = Field(max_length=MOST_MEMBERS)
    num_classes: Classes
    input_shape: Shape
    noise: Noise
    class_names: ClassNames
    digest: Digest
    consensus: int | None = None
    adaptive: AdaptiveEntry | None = None
    heads: tuple[int, ...] | None = Field(default=None, max_length=MOST_HEADS)
    fitted: tuple[HoldoutUse, ...] = Field(default=(), max_length=1_000)
