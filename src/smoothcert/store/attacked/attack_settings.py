"""What the settings of a stored attack may say, field by field: checked once, where they are read."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from smoothcert.store.manifest_fields import MOST_RADIUS, Checked, Indices, Seed, Source, Text, check_record

_Number = Annotated[int, Field(ge=1, le=2**40)]
_Level = Annotated[float, Field(gt=0, lt=1)]
_Radii = Annotated[
    list[Annotated[float, Field(ge=0, le=MOST_RADIUS)]], Field(max_length=10_000, fail_fast=True)
]


class _Settings(Checked):
    model: Text
    noise: Annotated[dict[Text, Text | float], Field(max_length=16)]
    dataset: Source
    indices: Indices
    method: Text
    steps: _Number | None
    parts: Annotated[list[Text], Field(min_length=1, max_length=16)]
    m: _Number
    radii: _Radii
    n: _Number
    alpha: _Level
    seed: Seed
    engine: Text
    on_nan: Text
    certificates: Text
    certified_alpha: _Level | None
    certified_seed: Seed | None
    certified_radii: _Radii | None
    certified_largest: Annotated[float, Field(ge=0, le=MOST_RADIUS)] | None


def check_settings(line: Any) -> dict[str, Any]:
    """Return the settings from the first line of a record; raise ValueError, naming the field, if they are none."""
    if not isinstance(line, dict) or set(line) != {"settings"} or not isinstance(line["settings"], dict):
        raise ValueError("its first line holds no settings")
    check_record(_Settings, line["settings"], "what it says of its settings")
    return dict(line["settings"])
