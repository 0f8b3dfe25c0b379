"""Checks of hyper-parameters, so that every objective refuses a wrong one in the same words."""

from __future__ import annotations

from collections.abc import Iterable

from smoothcert.arguments import check_number, check_whole
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief


def check_count(name: str, value: int, *, least: int = 1, why: str = "") -> None:
    """Refuse what is not a whole number of at least `least`; `why` says what the number is for."""
    check_whole(name, value, least, what=f"a whole number, {least} or more{why}")


def check_positive(name: str, value: float, *, unit: str = "") -> None:
    """Refuse what is not a finite number above 0; `unit` names its unit."""
    check_number(name, value, above=0, what=f"a finite number above 0{unit}")


def check_weight(name: str, value: float) -> None:
    """Refuse what is not a finite number of at least 0: a weight of a part of the loss."""
    check_number(name, value, 0, what="a finite number, 0 or more (0 leaves its part of the loss out)")


def check_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Refuse a word that is not among the known ones."""
    known = sorted(known)
    if value not in known:
        raise InvalidArgumentError(f"{name} must be one of {', '.join(known)}, got {brief(value)}")
