"""Checks of hyper-parameters, so that every objective refuses a wrong one in the same words."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

_LARGEST = sys.float_info.max


def check_count(name: str, value: int, *, least: int = 1, why: str = "") -> None:
    """Refuse what is not a whole number of at least `least`; `why` says what the number is for."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgumentError(f"{name} must be a whole number, {least} or more{why}, got {brief(value)}")


def check_positive(name: str, value: float, *, unit: str = "") -> None:
    """Refuse what is not a finite number above 0; `unit` names its unit."""
    if not _finite(value) or value <= 0:
        raise InvalidArgumentError(f"{name} must be a finite number above 0{unit}, got {brief(value)}")


def check_weight(name: str, value: float) -> None:
    """Refuse what is not a finite number of at least 0: a weight of a part of the loss."""
    if not _finite(value) or value < 0:
        raise InvalidArgumentError(
            f"{name} must be a finite number, 0 or more (0 leaves its part of the loss out), got {brief(value)}"
        )


def check_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Refuse a word that is not among the known ones."""
    known = sorted(known)
    if value not in known:
        raise InvalidArgumentError(f"{name} must be one of {', '.join(known)}, got {brief(value)}")


def check_switch(name: str, value: bool) -> None:
    """Refuse what is not True or False: a word such as "no" would count as yes."""
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"{name} must be True or False, got {brief(value)}")


def _finite(value: float) -> bool:
    # Compared, not converted: an integer may be too large to become a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST
