"""Name -> thing tables, one per kind, from which the command line takes its choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from smoothcert.errors import UnknownNameError
from smoothcert.visible import brief

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named things of one kind; unknown names are answered with the known ones.

    Not a plug-in system: members register when their module is imported.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._members: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that enters the decorated thing under `name`, once."""

        def enter(member: T) -> T:
            if name in self._members:
                raise ValueError(f"{self.kind} {name!r} is registered twice")
            self._members[name] = member
            return member

        return enter

    def __getitem__(self, name: str) -> T:
        if name not in self:
            known = ", ".join(sorted(self._members))
            raise UnknownNameError(f"unknown {self.kind} {brief(name)}; known: {known}")
        return self._members[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._members  # a list, from a file, is no name

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._members))

    def __len__(self) -> int:
        return len(self._members)
