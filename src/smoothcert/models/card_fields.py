"""Types of the fields of cards: each with its limits, so that a file that was read can be used as it is."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, JsonValue

from smoothcert.data import MOST_CLASSES
from smoothcert.errors import SmoothcertError
from smoothcert.models.limits import checked_classes, checked_shape
from smoothcert.noise import noise_from

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
"""Of every record in a folder: no unknown fields, no text for a number, no number that is none."""

_MOST_ENTRIES = 1_000  # of a table


def _plain_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("it holds a null character")
    return text


def _law(description: dict[str, Any]) -> dict[str, Any]:
    try:
        noise_from(description)
    except SmoothcertError as error:
        raise ValueError(str(error)) from error
    return description


def _name_and_digest(dataset: dict[str, str]) -> dict[str, str]:
    if set(dataset) != {"name", "digest"}:
        raise ValueError("it must have name and digest of the data set, and nothing else")
    return dataset


Text = Annotated[str, Field(max_length=1_000), AfterValidator(_plain_text)]
Place = Annotated[str, Field(min_length=1, max_length=4_096), AfterValidator(_plain_text)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Classes = Annotated[int, AfterValidator(checked_classes)]
Shape = Annotated[tuple[int, ...], AfterValidator(checked_shape)]
ClassNames = Annotated[tuple[Text, ...], Field(max_length=MOST_CLASSES)]
Noise = Annotated[dict[str, Any], AfterValidator(_law)]
Figures = Annotated[dict[Text, float], Field(max_length=_MOST_ENTRIES)]
Settings = Annotated[dict[Text, JsonValue], Field(max_length=_MOST_ENTRIES)]
TrainedOn = Annotated[dict[Text, Text], AfterValidator(_name_and_digest)]
