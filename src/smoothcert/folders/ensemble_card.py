"""The card of an ensemble: which members it has and how they vote."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, PlainSerializer, PlainValidator

from smoothcert.ensembles import EarlyExit, HoldoutUse, early_exit_from
from smoothcert.errors import SmoothcertError
from smoothcert.fields import STRICT, Digest, Place, Text
from smoothcert.folders.card_fields import Classes, ClassNames, Noise, Shape
from smoothcert.folders.records import MOST_MEMBERS
from smoothcert.networks import MOST_HEADS


class MemberEntry(BaseModel):
    """One member: its folder, relative to the ensemble's, and the digest it must have."""

    model_config = STRICT

    path: Place
    digest: Text


def _early_exit(about: object) -> EarlyExit:
    """Return the early exit of an entry, or the one that is given as it is."""
    if isinstance(about, EarlyExit):
        return about
    if not isinstance(about, dict):
        raise ValueError("an early exit is written as its kind and settings")
    try:
        return early_exit_from(about)
    except SmoothcertError as error:
        raise ValueError(str(error)) from error


EarlyExitEntry = Annotated[
    EarlyExit, PlainValidator(_early_exit), PlainSerializer(lambda early_exit: early_exit.describe())
]


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
        early_exit: when to stop asking, by kind and settings; None asks all members.
        heads: numbers of the heads that vote, in order, where the one member is a multi-head network; else None.
        fitted: choices that were made on labelled images, of members that are ensembles too.
    """

    model_config = STRICT

    format: Literal[2] = 2
    method: Literal["ensemble"] = "ensemble"
    rule: Text
    weights: tuple[float, ...] | None
    members: tuple[MemberEntry, ...] = Field(max_length=MOST_MEMBERS)
    num_classes: Classes
    input_shape: Shape
    noise: Noise
    class_names: ClassNames
    digest: Digest
    early_exit: EarlyExitEntry | None = None
    heads: tuple[int, ...] | None = Field(default=None, max_length=MOST_HEADS)
    fitted: tuple[HoldoutUse, ...] = Field(default=(), max_length=1_000)
