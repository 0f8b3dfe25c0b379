"""The card of an ensemble: which members it has and how they vote."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from smoothcert.ensembles.holdout import HoldoutUse


class MemberEntry(BaseModel):
    """One member: its folder, relative to the ensemble's, and the digest it must have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    digest: str


class AdaptiveEntry(BaseModel):
    """The test of adaptive prediction; arguments as for `AdaptiveEnsemble`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    method: Literal["ensemble"] = "ensemble"
    rule: str
    weights: tuple[float, ...] | None
    members: tuple[MemberEntry, ...]
    num_classes: int
    input_shape: tuple[int, ...]
    noise: dict[str, Any]
    class_names: tuple[str, ...]
    digest: str
    consensus: int | None = None
    adaptive: AdaptiveEntry | None = None
    heads: tuple[int, ...] | None = None
    fitted: tuple[HoldoutUse, ...] = ()
