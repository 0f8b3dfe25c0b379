"""Arguments of the wrong kind: refused where they are handed in, by what was expected and how to get it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief


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


def usable_cores() -> int:
    """Return the number of cores that this process may use: what workers are by default."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
