"""How far a log can reach: a small file beside it, because the field's columns have no place for that."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from smoothcert.certificates import Reach, Results
from smoothcert.errors import FormatError
from smoothcert.reading import kind_of, parse_json, read_bytes
from smoothcert.rounding import floor_digits
from smoothcert.store.manifest_fields import MOST_RADIUS, Checked, check_record

_MOST_BYTES = 2**16
_Radius = Annotated[float, Field(ge=0, le=MOST_RADIUS)]


class _Told(Checked):
    """What stands in the file. The digest ties it to its log: beside another one it says nothing.

    Radii are rounded down like those of the log, so that they can be compared.
    """

    log_sha256: Annotated[str, Field(min_length=64, max_length=64)]
    norm: Literal["l0", "l1", "l2", "linf"]
    largest_provable_radius: _Radius | None
    asked_radii: Annotated[list[_Radius], Field(min_length=1, max_length=1_000)] | None


def reach_file(log: Path) -> Path:
    """Return where the reach of a log stands."""
    return log.with_name(f"{log.name}.reach.json")


def reach_text(reach: Reach, log: bytes) -> str:
    """Return the content of the file beside a log.

    Args:
        reach: of the run that the log is about.
        log: the content of the log.
    """
    told = {
        "log_sha256": hashlib.sha256(log).hexdigest(),
        "norm": reach.norm,
        "largest_provable_radius": None if reach.largest is None else float(floor_digits(reach.largest)),
        "asked_radii": None
        if reach.asked is None
        else [float(floor_digits(radius)) for radius in reach.asked],
    }
    return json.dumps(told, indent=1) + "\n"


def read_reach(log: Path, content: bytes, results: Results) -> Reach:
    """Return the reach that the file beside a log tells; without one, the largest radius found and no more.

    Args:
        log: the log's path.
        content: what it holds.
        results: its certificates.
    """
    proven = largest_found(results)
    file = reach_file(log)
    if kind_of(file) is None:
        return Reach(proven, is_known=False)
    record = parse_json(read_bytes(file, FormatError, most=_MOST_BYTES), str(file), FormatError)
    fix = f"remove it, or export {log.name} again"
    if not isinstance(record, dict):
        raise FormatError(f"{file} holds no table of values; {fix}")
    try:
        check_record(_Told, record, str(file))
    except ValueError as error:
        raise FormatError(f"{error}; {fix}") from None
    if record["log_sha256"] != hashlib.sha256(content).hexdigest():  # the log was replaced, or changed
        return Reach(proven, is_known=False)
    largest, asked = record["largest_provable_radius"], record["asked_radii"]
    if proven is not None and (largest is None or proven > largest):
        raise FormatError(
            f"{file} says that no radius above {largest} is provable, but {log} has {proven}; {fix}"
        )
    return Reach(largest, None if asked is None else tuple(sorted(set(asked))), norm=record["norm"])


def largest_found(results: Results) -> float | None:
    """Return the largest radius certified for any class; None without a certificate."""
    radii = results.radius[results.predicted >= 0]
    return float(np.max(radii)) if len(radii) else None
