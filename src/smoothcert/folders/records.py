"""What records of models and trainings have in common: limits, fields that may be missing, and their faults."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

MOST_MEMBERS = 256
"""Networks in an ensemble, members of members included."""
LEFT_OUT = (
    "heads",
    "split",
    "denoised",
    "members",
    "classifier",
    "digests",
    "depth",
    "width",
    "holdout",
    "packages",
    "code",
    "own",
    "model_args",
    "model_code",
    "rounding",
    "start",
    "onnx",
)
"""Fields of cards and configurations that are not written where they are None, so that old records stay equal."""


def drop_unset(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out the fields of `LEFT_OUT` that are None, so that records of plain networks read as they always did."""
    return {name: value for name, value in record.items() if value is not None or name not in LEFT_OUT}


def first_fault(error: ValidationError) -> str:
    """Say which field is the first wrong one, and why."""
    first = error.errors(include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:80] for part in first["loc"]) or "the file"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"
