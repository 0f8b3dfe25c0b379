"""Options of a command that are made when they are asked for: a registry's member by name, and what it can be told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import typer

from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.help_text import help_text
from smoothcert.errors import InvalidArgumentError
from smoothcert.options import Option
from smoothcert.registry import Registry


class OptionGroup(ABC):
    """Options that stand together in a command's help and whose values are one mapping.

    Args:
        key: name of the mapping among the values of a command.
        panel: heading in the help.
    """

    def __init__(self, key: str, panel: str) -> None:
        self.key, self.panel = key, panel

    @abstractmethod
    def options(self) -> list[CommandOption]:
        """Return the options; members are imported for it."""

    @property
    def place(self) -> str:
        """Where in a context's `meta` the values are."""
        return f"{__name__}.{self.key}"

    def given(self, context: typer.Context) -> dict[str, Any]:
        """Return what was given on the command line, by the option's name."""
        return dict(context.meta[self.place])


class MemberGroup(OptionGroup):
    """A member of a registry by name, and the options of all its members, each once.

    Args:
        registry: of members that have `options()`.
        key: the option that names a member.
        panel: heading in the help.
        default: name of the member where none is given; None if something else decides.
        otherwise: what decides then, for the help; it stands for the members' own defaults too.
        more: further options, after those of the members.
    """

    def __init__(
        self,
        registry: Registry[Any],
        key: str,
        panel: str,
        *,
        default: str | None = None,
        otherwise: str = "",
        more: Sequence[CommandOption] = (),
    ) -> None:
        super().__init__(key, panel)
        self.registry, self.default, self.otherwise, self.more = registry, default, otherwise, more

    def options(self) -> list[CommandOption]:
        """Return the option that names a member, those of the members, and the further ones."""
        names = ", ".join(self.registry) + (f"; {self.otherwise}" if self.otherwise else "")
        return [
            CommandOption(self.key, str, f"{names}.", default=self.default),
            *self._of_members(),
            *self.more,
        ]

    def _of_members(self) -> list[CommandOption]:
        takers: dict[str, dict[str, Option]] = {}
        for name in self.registry:
            for option in self.registry[name].options():
                own = replace(option, default=None) if self.otherwise else option
                takers.setdefault(option.name, {})[name] = own
        shared_first = sorted(takers.values(), key=len, reverse=True)
        return [merged(self.registry, who, len(self.registry)) for who in shared_first]


def merged(registry: Registry[Any], takers: dict[str, Option], members: int) -> CommandOption:
    """Return what several members call by one name as one option; refuse it where it is of different kinds.

    Args:
        registry: of the members.
        takers: the option as each member has it, by the member's name.
        members: that a user can choose from; the help names the takers where they are fewer.
    """
    first = next(iter(takers.values()))
    for name, option in takers.items():
        if (option.kind, option.many) != (first.kind, first.many):
            raise InvalidArgumentError(
                f"{owner_of(registry, [name, *takers])} has an option --{option.name} of another kind than the "
                f"others of that name; rename it in that package, or uninstall it"
            )
    return CommandOption(
        first.name,
        first.kind,
        help_text(takers, members),
        many=first.many,
        negatable=any(option.default is True for option in takers.values()),
        owner=owner_of(registry, list(takers)),
    )


def owner_of(registry: Registry[Any], names: Sequence[str]) -> str:
    """Return the first member that comes from another package, as messages name it; else the first."""
    for name in names:
        package = registry.package_of(name)
        if package is not None:
            return f"{registry.kind} {name!r} of package {package.name} {package.version}"
    return f"{registry.kind} {names[0]!r}"
