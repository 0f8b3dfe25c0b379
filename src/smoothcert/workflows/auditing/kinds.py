"""What kind of value each column of a run holds, checked once before anything is made of it.

SQLite keeps a text or a fraction in a column of integers if somebody puts it there, and what is truncated or compared
with it later would pass for another value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from smoothcert.certificates import Outcome
from smoothcert.workflows.auditing.stored import Row, StoredImage

Kind = tuple[str, Callable[[Any], bool]]


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) is float and 0 <= value < math.inf and math.copysign(1.0, value) > 0


WHOLE: Kind = ("a whole number from 0 on", _is_whole)
NUMBER: Kind = ("a finite number from 0 on", _is_number)
INTEGER: Kind = ("an integer", lambda value: type(value) is int)
TEXT: Kind = ("a text", lambda value: isinstance(value, str))

CERTIFICATE: dict[str, Kind] = {
    "idx": WHOLE,
    "label": INTEGER,
    "outcome": ("the name of an outcome", lambda value: value in Outcome.__members__),
    "predicted": ("a class or nothing", lambda value: value is None or _is_whole(value)),
    "radius": NUMBER,
    "p_lower": ("a probability", lambda value: _is_number(value) and value <= 1),
    "samples": WHOLE,
    "evaluations": WHOLE,
    "seconds": NUMBER,
}
COUNTS: dict[str, Kind] = {
    "idx": WHOLE,
    "position": INTEGER,
    "phase": TEXT,
    "purpose": TEXT,
    "radius": ("a radius or nothing", lambda value: value is None or _is_number(value)),
    "drawn": WHOLE,
    "evaluations": WHOLE,
    "votes": TEXT,
}
VOTES: dict[str, Kind] = {
    "idx": WHOLE,
    "phase": TEXT,
    "packed": ("bytes", lambda value: isinstance(value, bytes)),
}


def wrong_kinds(image: StoredImage, num_classes: int) -> Iterator[str]:
    """Yield every value about an image that is of another kind than its column holds.

    Args:
        image: the rows as they are stored.
        num_classes: the manifest's number of classes.
    """
    yield from _wrong("certificates", CERTIFICATE, [image.certificate])
    yield from _wrong("counts", COUNTS, image.counts)
    yield from _wrong("votes", VOTES, image.votes)
    predicted: Any = image.certificate.predicted
    if _is_whole(predicted) and predicted >= num_classes:
        yield f"its class is {predicted}, but there are {num_classes}"


def _wrong(table: str, kinds: dict[str, Kind], rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for (column, (expected, fits)), value in zip(kinds.items(), row, strict=True):
            if not fits(value):
                yield f"{column} in {table} is {repr(value)[:60]}, expected {expected}"
