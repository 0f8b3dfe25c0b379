"""The help of an option that several members take: what each of them says about it, said once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from smoothcert.options import Option

_CLAUSES = re.compile(r"(?:; |\. )")


def help_text(takers: Mapping[str, Option], members: int) -> str:
    """Return one sentence: what the takers say, with the names of those who say it where not all members do.

    Where they say different things, each says its first clause alone: the rest is in its own documentation.

    Args:
        takers: the option as each member that takes it has it, by the member's name.
        members: number of all members.
    """
    clauses = {name: _CLAUSES.split(option.text.rstrip(".")) for name, option in takers.items()}
    said: dict[str, list[str]] = {}
    for name, (first, *_) in clauses.items():
        said.setdefault(first, []).append(name)
    if len(said) == 1:  # then there is room for what some of them add
        for name, (_, *rest) in clauses.items():
            for clause in rest:
                said.setdefault(clause, []).append(name)
    text = "; ".join([*_told(said, members), *_defaults(takers, members)])
    return text[:1].upper() + text[1:] + "."


def _told(said: Mapping[str, Sequence[str]], members: int) -> Iterator[str]:
    """Yield clauses with the names of those who say them, once for clauses of the same ones in a row."""
    for names, clauses in groupby(said, key=lambda clause: said[clause]):
        yield _with_names("; ".join(clauses), names, members)


def _with_names(text: str, names: Sequence[str], members: int) -> str:
    return text if len(names) == members else f"{text} ({', '.join(names)})"


def _defaults(takers: Mapping[str, Option], members: int) -> list[str]:
    """Return what holds where nothing is given, by whose word."""
    values: dict[str, list[str]] = {}
    for name, option in takers.items():
        if option.default is not None and option.kind is not bool:
            values.setdefault(_shown(option.default), []).append(name)
    if not values:
        return []
    if len(values) == 1 and len(next(iter(values.values()))) == len(takers):
        return [f"{next(iter(values))} by default"]
    return ["by default " + ", ".join(_with_names(value, names, members) for value, names in values.items())]


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
