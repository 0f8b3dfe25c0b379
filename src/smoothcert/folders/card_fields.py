"""Types of the fields of cards that say what a model is about: classes, shapes, noise, data."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from smoothcert.data import MOST_CLASSES
from smoothcert.errors import SmoothcertError
from smoothcert.fields import Text
from smoothcert.networks import checked_classes, checked_shape
from smoothcert.noise import noise_from

UNKNOWN = "unknown"
"""What a card says of the training, or of its data set, where nobody told."""


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


Classes = Annotated[int, AfterValidator(checked_classes)]
Shape = Annotated[tuple[int, ...], AfterValidator(checked_shape)]
ClassNames = Annotated[tuple[Text, ...], Field(max_length=MOST_CLASSES)]
Noise = Annotated[dict[str, Any], AfterValidator(_law)]
TrainedOn = Annotated[dict[Text, Text], AfterValidator(_name_and_digest)]
