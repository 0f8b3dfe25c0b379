"""Types of the fields of stored records: each with its limits, so that a file that was read can be used as it is."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
"""Of every record in a folder: no unknown fields, no text for a number, no number that is none."""

_MOST_ENTRIES = 1_000  # of a table


def _plain_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("it holds a null character")
    return text


Text = Annotated[str, Field(max_length=1_000), AfterValidator(_plain_text)]
Place = Annotated[str, Field(min_length=1, max_length=4_096), AfterValidator(_plain_text)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Figures = Annotated[dict[Text, float], Field(max_length=_MOST_ENTRIES)]
Settings = Annotated[dict[Text, JsonValue], Field(max_length=_MOST_ENTRIES)]
