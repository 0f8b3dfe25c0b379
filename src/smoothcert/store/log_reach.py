"""What a log says of its reach: two columns beside the field's own, the same in every row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from smoothcert.certificates import Results
from smoothcert.certificates.reach import Reach
from smoothcert.errors import FormatError
from smoothcert.store.manifest_fields import MOST_RADIUS
from smoothcert.store.rounding import floor_digits
from smoothcert.visible import brief

REACH_COLUMNS = ("provable", "asked")
_NOTHING, _ANY = "none", "any"
_MOST_TEXT = 200  # letters: longer lists of radii would make up most of a log, and are left out


def reach_cells(reach: Reach) -> tuple[str, str]:
    """Return (largest provable radius, asked radii) as cells, rounded down like the radii beside them.

    A log that tells no asked radii, because they are too many, tells nothing provable either.
    """
    largest = _NOTHING if reach.largest is None else floor_digits(reach.largest)
    if reach.asked is None:
        return largest, _ANY
    asked = " ".join(floor_digits(radius) for radius in reach.asked)
    return (largest, asked) if len(asked) <= _MOST_TEXT else ("", "")


def read_reach(file: Path, told: Mapping[tuple[str, ...], int], results: Results) -> Reach:
    """Return the reach that a log tells; where it does not, or its rows differ, the largest radius found in it.

    Args:
        file: named in errors.
        told: what rows say in the two columns, with the first line that says it.
        results: the log's certificates.
    """
    found = largest_found(results)
    if len(told) != 1:
        return Reach(found, is_known=False)
    (cells, line), *_ = told.items()
    if len(cells) != len(REACH_COLUMNS) or "" in cells:
        return Reach(found, is_known=False)
    try:
        largest = None if cells[0] == _NOTHING else _radius(cells[0])
        asked = None if cells[1] == _ANY else tuple(sorted({_radius(one) for one in cells[1].split(" ")}))
    except ValueError as error:
        raise FormatError(
            f"{file} line {line}: {' and '.join(REACH_COLUMNS)} are {brief(cells)}: {error}; fix them, or remove both "
            "columns"
        ) from None
    if found is not None and (largest is None or found > largest):
        raise FormatError(
            f"{file} line {line}: provable is {cells[0]}, but the log holds a radius of {found:g}; fix it, or remove "
            f"the columns {' and '.join(REACH_COLUMNS)}"
        )
    return Reach(largest, asked)


def largest_found(results: Results) -> float | None:
    """Return the largest radius certified for any class; None without a certificate."""
    radii = results.radius[results.predicted >= 0]
    return float(np.max(radii)) if len(radii) else None


def _radius(text: str) -> float:
    radius = float(text)
    if not 0 <= radius <= MOST_RADIUS:
        raise ValueError(f"a radius is from 0 to {MOST_RADIUS:g}")
    return radius
