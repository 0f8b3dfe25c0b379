"""Arguments of the wrong kind: refused where they are handed in, by what was expected and how to get it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

_LARGEST = sys.float_info.max


def check_kind(name: str, value: Any, kind: type | tuple[type, ...], fix: str) -> None:
    """Refuse a value of another kind.

    Args:
        name: of the argument.
        value: what was handed in.
        kind: what it must be an instance of.
        fix: what it must be and where to get it; the message continues "must be ..".
    """
    if not isinstance(value, kind):
        got = brief(value, 60)
        kind_name = type(value).__name__
        raise InvalidArgumentError(
            f"{name} must be {fix}; got {'' if kind_name in got else f'{kind_name} '}{got}"
        )


def check_path(name: str, value: Any) -> Path:
    """Return a path; refuse what is none, is empty or holds a null character.

    Args:
        name: of the argument.
        value: text or a path.
    """
    check_kind(name, value, (str, os.PathLike), "a path, as text or pathlib.Path")
    text = os.fspath(value)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidArgumentError(f"{name} must be a path that names a place; got {brief(value)}")
    return Path(text)


def is_whole(
    value: Any, least: int | None = None, most: int | None = None, *, numpy: bool = False
) -> TypeGuard[int]:
    """Return whether a value is an integer within limits; True and False are none, though Python counts with them.

    Args:
        value: anything.
        least: smallest allowed.
        most: largest allowed.
        numpy: whether NumPy's integers will do, for a caller that turns them into Python's.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer if numpy else int):
        return False
    return (least is None or value >= least) and (most is None or value <= most)


def is_number(
    value: Any,
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    numpy: bool = False,
) -> TypeGuard[float]:
    """Return whether a value is a finite number within limits; True and False are none, and neither is NaN.

    Args:
        value: anything.
        least: smallest allowed.
        most: largest allowed.
        above: what it must exceed.
        below: what it must stay under.
        numpy: whether all of NumPy's real numbers will do, for a caller that turns them into Python's.
    """
    kinds = int | float | np.integer | np.floating if numpy else int | float
    if isinstance(value, bool) or not isinstance(value, kinds):
        return False
    if isinstance(value, np.generic):
        # A limit would be rounded to NumPy's narrower kind, and compare as another number.
        value = value.item()
    # Compared, not converted: an integer may be too large to become a float.
    if not -_LARGEST <= value <= _LARGEST:
        return False
    return (
        (least is None or value >= least)
        and (most is None or value <= most)
        and (above is None or value > above)
        and (below is None or value < below)
    )


def check_whole(
    name: str,
    value: Any,
    least: int,
    most: int | None = None,
    *,
    what: str = "",
    fix: str = "",
    numpy: bool = False,
) -> int:
    """Return an integer; refuse what is none or lies outside its limits.

    Args:
        name: of the argument.
        value: what was handed in.
        least: smallest allowed.
        most: largest allowed.
        what: it must be, where "an integer of at least .." does not say enough; the message continues "must be ..".
        fix: how to get it right, put behind the value with its own punctuation.
        numpy: whether NumPy's integers will do; keep what is returned then, not the argument.
    """
    if not is_whole(value, least, most, numpy=numpy):
        limits = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise InvalidArgumentError(
            f"{name} must be {what or f'an integer {limits}'}, got {brief(value)}{fix}"
        )
    return int(value)


def check_number(
    name: str,
    value: Any,
    least: float | None = None,
    most: float | None = None,
    *,
    what: str,
    fix: str = "",
    above: float | None = None,
    below: float | None = None,
    numpy: bool = False,
) -> float:
    """Return a finite number; refuse what is none or lies outside its limits.

    Args:
        name: of the argument.
        value: what was handed in.
        least: smallest allowed.
        most: largest allowed.
        what: it must be, with its limits and unit; the message continues "must be ..".
        fix: how to get it right, put behind the value with its own punctuation.
        above: what it must exceed.
        below: what it must stay under.
        numpy: whether all of NumPy's real numbers will do; keep what is returned then, not the argument.
    """
    if not is_number(value, least, most, above=above, below=below, numpy=numpy):
        raise InvalidArgumentError(f"{name} must be {what}, got {brief(value)}{fix}")
    return float(value)


def check_switch(name: str, value: Any) -> bool:
    """Return True or False; refuse anything else, for a word such as "no" would count as yes.

    Args:
        name: of the argument.
        value: what was handed in.
    """
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"{name} must be True or False, got {brief(value)}")
    return value


def usable_cores() -> int:
    """Return the number of cores that this process may use: what workers are by default."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
