"""Name -> member tables, one per kind, from which the command line takes its choices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from smoothcert.errors import UnknownNameError
from smoothcert.visible import brief

T = TypeVar("T")

_HOME = Path(__file__).parent


@dataclass(frozen=True)
class Package:
    """An installed package that a member comes from.

    Args:
        name: of the distribution.
        version: of the distribution.
    """

    name: str
    version: str


class Registry(Generic[T]):
    """The members of one kind, by name: a file of a folder of this package each, or an entry point of another package.

    Names are read from file names and entry points; a member is imported when it is first asked for. No other folder
    is searched for code. An entry point's group is the folder's dotted name (`smoothcert.noise.laws`), its name is
    that of the file which it points to, with `-` for `_`.

    Args:
        kind: what a member is called in messages.
        folder: dotted name of the package whose modules are the members.
        base: class that members are instances or subclasses of; the one that a module defines is its member. As
            "module:Class" it is imported with the first member, so that names are known without it.
        check: refuses a member with a fault that its class cannot, when it is imported.
    """

    def __init__(
        self, kind: str, folder: str, base: type | str, *, check: Callable[[T], None] | None = None
    ) -> None:
        self.kind, self.folder, self._said_base, self._check = kind, folder, base, check
        self._members: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise UnknownNameError(f"unknown {self.kind} {brief(name)}; known: {', '.join(self)}")
        if name not in self._members:
            member = self._imported(name)
            if self._check is not None:
                self._check(member)
            self._members[name] = member
        return self._members[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._places  # a list, from a file, is no name

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._places))

    def __len__(self) -> int:
        return len(self._places)

    def package_of(self, name: str) -> Package | None:
        """Return the package that a member comes from; None for this one."""
        place = self._places[name]
        if not isinstance(place, EntryPoint):
            return None
        # Without a distribution it is still not our own.
        return (
            Package("unknown", "unknown")
            if place.dist is None
            else Package(place.dist.name, place.dist.version)
        )

    def told_name(self, member: type) -> str:
        """Return the name that records give a class: its file's, unless that is the name of another one here."""
        name = name_of(member)
        taken = name in self and self[name] is not member
        return f"{member.__module__}.{member.__qualname__}" if taken else name

    @cached_property
    def _places(self) -> Mapping[str, str | EntryPoint]:
        """Where every member is: the dotted name of a module here, or an entry point."""
        files = _HOME.joinpath(*self.folder.split(".")[1:]).glob("[!_]*.py")
        places: dict[str, str | EntryPoint] = {
            _title(file.stem): f"{self.folder}.{file.stem}" for file in files
        }
        for point in entry_points(group=self.folder):
            if point.name in places:
                raise UnknownNameError(
                    f"{_source(point)} offers a {self.kind} {point.name!r}, a name that is taken; rename it"
                )
            places[point.name] = point
        return places

    @cached_property
    def _base(self) -> type:
        if isinstance(self._said_base, type):
            return self._said_base
        module, _, name = self._said_base.partition(":")
        base: type = getattr(import_module(module), name)
        return base

    def _imported(self, name: str) -> T:
        place = self._places[name]
        if isinstance(place, str):
            return self._member_of(import_module(place))
        try:
            member = place.load()
        except Exception as error:  # whatever another package's code raises
            raise UnknownNameError(
                f"{self.kind} {name!r} of {_source(place)} cannot be imported: {brief(error)}"
            ) from error
        if isinstance(member, ModuleType):
            member = self._member_of(member)
        stem = place.module.rsplit(".", 1)[-1]
        if not self._belongs(member) or _title(stem) != name:
            raise UnknownNameError(
                f"{_source(place)} says that {place.value} is a {self.kind} {name!r}, but it is "
                + (f"named {_title(stem)!r} by its file" if self._belongs(member) else f"{brief(member)}")
            )
        checked: T = member
        return checked

    def _belongs(self, value: Any) -> bool:
        return isinstance(value, self._base) or (
            isinstance(value, type) and issubclass(value, self._base) and not inspect.isabstract(value)
        )

    def _member_of(self, module: ModuleType) -> T:
        """Return the one member that a module defines; classes that it imports are not its own."""
        members = [
            value for name, value in vars(module).items() if not name.startswith("_") and self._belongs(value)
        ]
        classes: list[Any] = [
            value for value in members if isinstance(value, type) and value.__module__ == module.__name__
        ]
        own = classes or [value for value in members if not isinstance(value, type)]
        if len(own) != 1:
            raise UnknownNameError(f"{module.__name__} must define one {self.kind}, it defines {len(own)}")
        member: T = own[0]
        return member


class Table(Generic[T]):
    """A few named things that stand in one file; unknown names are answered with the known ones.

    Not for what others may add to: that is a `Registry`.
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
            raise UnknownNameError(f"unknown {self.kind} {brief(name)}; known: {', '.join(self)}")
        return self._members[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._members  # a list, from a file, is no name

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def package_of(self, name: str) -> Package | None:
        """Return None: what stands here is this package's own."""
        self[name]  # refuses an unknown name
        return None


def name_of(member: type) -> str:
    """Return the name of a member that is a class: its file's."""
    return _title(member.__module__.rsplit(".", 1)[-1])


def _title(stem: str) -> str:
    return stem.replace("_", "-")


def _source(point: EntryPoint) -> str:
    return "a package" if point.dist is None else f"package {point.dist.name} {point.dist.version}"
