"""What a manifest may say, field by field: checked once, where it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from smoothcert.certificates import PROCEDURES
from smoothcert.ensembles import early_exit_from
from smoothcert.errors import SmoothcertError
from smoothcert.noise import NOISE_LAWS, noise_from
from smoothcert.sampling import CHUNK_VOTES, ON_NAN
from smoothcert.seeding import SEED_BITS
from smoothcert.store.manifest import FORMAT
from smoothcert.store.packages import Member, refuse_other_packages
from smoothcert.visible import brief

MOST_RADIUS = 1e6
"""Largest radius that is believed: noise of any law and strength proves less, and images span [0, 1]."""
MOST_CLASSES = 2**16
MOST_INDEX = 2**53  # what a float holds exactly
_MOST_IMAGES = 500_000
_MOST_COUNTS = 50_000_000  # images times classes, which readers hold in memory
_MOST_VALUES = 2**31  # of one image
_MOST_TEXT = 10_000
_MOST_CHANNELS = 10_000
_SHOWN = 80  # characters of a value in a message


def _below_128_bits(seed: str) -> str:
    if int(seed) >> SEED_BITS:
        raise ValueError("a seed is below 2^128")
    return seed


def _different(indices: list[int]) -> list[int]:
    if len(set(indices)) != len(indices):
        raise ValueError("indices are different")
    return indices


Text = Annotated[str, StringConstraints(max_length=_MOST_TEXT)]
Seed = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,38})$"), AfterValidator(_below_128_bits)]
Indices = Annotated[
    list[Annotated[int, Field(ge=0, le=MOST_INDEX)]],
    Field(min_length=1, max_length=_MOST_IMAGES, fail_fast=True),
    AfterValidator(_different),
]
Passes = Annotated[int, Field(ge=1, le=2**20)]


class Checked(BaseModel):
    """A record of a file: every value of its kind, nothing infinite, nothing beside."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Source(Checked):
    """Where images come from."""

    name: Text
    split: Text
    digest: Text
    holdout: Annotated[int, Field(ge=0, le=MOST_INDEX)] | None = None  # where one of that size was asked for


class _Ensemble(Checked):
    kind: Text
    rule: Text
    members: Annotated[list[Text], Field(max_length=10_000, fail_fast=True)]
    evaluations_per_vote: Passes
    early_exit: Annotated[dict[str, Any], Field(max_length=16)] | None = None
    first_evaluations: Passes | None = None
    packages: Annotated[dict[Text, Text], Field(max_length=32)] | None = (
        None  # that rule and early exit come from
    )

    @model_validator(mode="after")
    def _describes_an_early_exit(self) -> _Ensemble:
        if self.early_exit is not None:
            about = self.early_exit
            ((_, described),) = _built(early_exit=lambda: early_exit_from(about))
            _refuse_other("early_exit", about, described)
        return self


class _OwnModel(Checked):
    """Where a model is from that no folder describes; fields that are not there are left out."""

    kind: Literal["onnx", "factory"]
    name: Text
    arguments: Annotated[dict[Text, str | int | float | bool | None], Field(max_length=1_000)] | None = None
    weights: Text | None = None
    mean: Annotated[list[float], Field(max_length=_MOST_CHANNELS)] | None = None
    std: Annotated[list[float], Field(max_length=_MOST_CHANNELS)] | None = None


class _Package(Checked):
    package: Text
    version: Text


_Members = Annotated[dict[Text, _Package], Field(min_length=1, max_length=10_000)]


class _Fields(Checked):
    """The fields of a manifest; those that must fit each other are compared last."""

    format: int
    model: Text
    ensemble: _Ensemble | None = None  # left out, never null
    source: _OwnModel | None = None  # likewise
    num_classes: Annotated[int, Field(ge=2, le=MOST_CLASSES)]
    engine: Text
    precision: Text | None = None  # likewise
    noise: Annotated[dict[str, Any], Field(max_length=16)]
    norm: Text
    procedure: Annotated[dict[str, Any], Field(max_length=16)]
    alpha: Annotated[float, Field(gt=0, lt=1)]
    on_nan: Text
    seed: Seed
    chunk_votes: int
    dataset: Source
    input_shape: Annotated[
        list[Annotated[int, Field(ge=1, le=_MOST_VALUES)]], Field(min_length=1, max_length=8)
    ]
    class_names: Annotated[list[Text], Field(max_length=MOST_CLASSES, fail_fast=True)]
    indices: Indices
    versions: Annotated[dict[Text, Text], Field(max_length=32)]
    packages: Annotated[dict[Text, _Members], Field(min_length=1, max_length=16)] | None = None  # never null

    @model_validator(mode="after")
    def _fit_each_other(self) -> _Fields:
        if self.format != FORMAT:
            raise ValueError(f"format must be {FORMAT}, not {self.format}: another version wrote it")
        if self.ensemble is None and "ensemble" in self.model_fields_set:
            raise ValueError("ensemble must describe one, or be left out")
        if self.source is None and "source" in self.model_fields_set:
            raise ValueError("source must say where a model is from, or be left out")
        if self.precision is None and "precision" in self.model_fields_set:
            raise ValueError("precision must name what is less than float32, or be left out")
        if self.packages is None and "packages" in self.model_fields_set:
            raise ValueError("packages must name those of members from outside, or be left out")
        if self.on_nan not in ON_NAN:
            raise ValueError(f"on_nan must be one of {', '.join(ON_NAN)}, not {self.on_nan!r}")
        if self.chunk_votes != CHUNK_VOTES:
            raise ValueError(f"chunk_votes must be {CHUNK_VOTES}, not {self.chunk_votes}")
        if len(self.indices) * self.num_classes > _MOST_COUNTS:
            raise ValueError(f"indices times num_classes must be at most {_MOST_COUNTS:,}")
        if math.prod(self.input_shape) > _MOST_VALUES:
            raise ValueError(f"input_shape must be of at most {_MOST_VALUES:,} values")
        self._describe_what_there_is()
        return self

    def _describe_what_there_is(self) -> None:
        about = {key: value for key, value in self.procedure.items() if key != "name"}
        (noise, law), (_, procedure) = _built(
            noise=lambda: noise_from(self.noise).for_shape(self.input_shape),
            procedure=lambda: PROCEDURES[self.procedure["name"]](**about),
        )
        if noise.norm != self.norm:
            raise ValueError(f"norm must be that of the noise, {noise.norm}, not {self.norm!r}")
        _refuse_other("noise", self.noise, law)
        _refuse_other("procedure", self.procedure, procedure)
        asked = [self.procedure.get("radius"), *(self.procedure.get("radii") or ())]
        if any(radius is not None and radius > MOST_RADIUS for radius in asked):
            raise ValueError(f"procedure asks for a radius above {MOST_RADIUS:g}")
        members: list[Member] = [(NOISE_LAWS, self.noise["name"]), (PROCEDURES, self.procedure["name"])]
        refuse_other_packages(self.model_dump(include={"packages"})["packages"], members)


def check_fields(manifest: Mapping[str, Any]) -> None:
    """Raise ValueError, naming the field, if a manifest is not as `make_manifest` makes them.

    Not a proof that its values are true: an audit looks into that.
    """
    unknown = sorted(set(manifest) - set(_Fields.model_fields))
    if unknown:
        raise ValueError(f"it has fields that this version never writes: {', '.join(unknown)[:200]}")
    check_record(_Fields, manifest, "its manifest")


def check_record(kind: type[Checked], record: Mapping[str, Any], where: str) -> None:
    """Raise ValueError, naming the first field that is wrong, if a record is not of a kind."""
    try:
        kind.model_validate(dict(record))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        value = (
            "" if first["type"] in ("missing", "value_error") else f", got {brief(first['input'], _SHOWN)}"
        )
        text = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{where} is wrong: {field + ': ' if field else ''}{text}{value}") from None


def _built(**makers: Callable[[], Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Return what each field describes, and how that describes itself."""
    built: list[tuple[Any, dict[str, Any]]] = []
    for field, make in makers.items():
        try:
            member = make()
            built.append((member, member.describe()))
        except (SmoothcertError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise ValueError(f"{field} describes none that there is: {str(error)[:300]}") from error
    return built


def _refuse_other(field: str, stored: Mapping[str, Any], described: Mapping[str, Any]) -> None:
    """Refuse a description that is not written as its own member writes it, kinds of numbers included."""
    if json.dumps(stored, sort_keys=True) != json.dumps(described, sort_keys=True):
        raise ValueError(
            f"{field} is not as it describes itself: {brief(stored, _SHOWN)}, not {brief(described, _SHOWN)}"
        )
