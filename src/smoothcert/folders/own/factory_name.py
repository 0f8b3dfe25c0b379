"""Names of factories: `package.module:factory` or `path/file.py:factory`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class FactoryName:
    """Where a function or class is that builds a network. Not the function: nothing is imported here.

    Args:
        place: a Python file, or the dotted name of a module.
        name: of the function or class in it.
    """

    place: str
    name: str

    @classmethod
    def read(cls, text: Any) -> FactoryName | None:
        """Return the name that a text is; None if it is none."""
        place, colon, name = str(text).rpartition(":")
        if not colon or not _DOTTED.fullmatch(name):
            return None
        if place.endswith(".py") or _DOTTED.fullmatch(place):
            return cls(place, name)
        return None

    @property
    def file(self) -> Path | None:
        """The Python file; None for a module."""
        return Path(self.place) if self.place.endswith(".py") else None

    @property
    def short(self) -> str:
        """The name without the folders above a file, which may be moved."""
        return f"{self.place if self.file is None else self.file.name}:{self.name}"

    @property
    def resolved(self) -> str:
        """The name with the whole path of a file, seen from the current folder."""
        return f"{self.place if self.file is None else self.file.resolve()}:{self.name}"

    def __str__(self) -> str:
        return f"{self.place}:{self.name}"


def check_factories(factories: Any) -> tuple[FactoryName, ...]:
    """Return the factories that a user lets run, by name; refuse what is no name of one."""
    if isinstance(factories, str) or not isinstance(factories, Sequence):
        raise InvalidArgumentError(
            f"factories must be a list of names such as ['net.py:make'], got {brief(factories)}"
        )
    names = []
    for given in factories:
        name = FactoryName.read(given)
        if name is None:
            raise InvalidArgumentError(
                f"{brief(given)} names no factory; write package.module:factory or path/file.py:factory"
            )
        names.append(name)
    return tuple(names)


def allowed(name: str, factories: Sequence[FactoryName]) -> FactoryName | None:
    """Return the factory that a user lets run now for one that a card or a run names; None if there is none.

    What is run is what the user named: of a file that was moved, where it is now. Where several files of that name may
    run, it is the one at the very place that the card or the run names, seen from the current folder; none is guessed.

    Args:
        name: as the card or the run has it.
        factories: what the user lets run.
    """
    wanted = FactoryName.read(name)
    if wanted is None:
        return None
    alike = {given.resolved: given for given in reversed(factories) if given.short == wanted.short}
    if len(alike) < 2 or wanted.resolved in alike:
        return alike.get(wanted.resolved, next(iter(alike.values()), None))
    raise InvalidArgumentError(
        f"factories names several files for {name} ({', '.join(map(str, reversed(alike.values())))}), and none is at "
        "that place; name that one alone, or run from the folder where its path is right"
    )
