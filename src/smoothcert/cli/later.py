"""Commands whose files are imported when they are run: the help of the program names them all and imports none."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from smoothcert.cli.members import command_with

_HERE = Path(__file__).parent


class LaterCommand(TyperCommand):
    """A command by the place of its function, "file:function" or "room.file:function".

    Its help is read from the file's text.

    The file may have a tuple `GROUPS` of the groups of options that the function takes from members.

    Args:
        name: as it is typed.
        place: where its function stands, in this room.
    """

    def __init__(self, name: str, place: str) -> None:
        self._file, _, self._function = place.partition(":")
        super().__init__(name)

    @property  # a plain attribute there, which would be read for every command at every start
    def help(self) -> str | None:
        """The function's docstring."""
        tree = ast.parse((_HERE / f"{self._file.replace('.', '/')}.py").read_text("utf-8"))
        (function,) = (
            part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == self._function
        )
        return ast.get_docstring(function)

    @help.setter
    def help(self, text: str | None) -> None:
        pass  # the file has it

    def loaded(self) -> TyperCommand:
        """Import the file and return the whole command."""
        module = import_module(f"smoothcert.cli.{self._file}")
        single = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        groups = command_with(*getattr(module, "GROUPS", ()))
        single.command(self.name, cls=groups)(getattr(module, self._function))
        command = get_command(single)
        assert isinstance(command, TyperCommand)
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the arguments as the whole command does; it, and not this one, is what then runs."""
        return self.loaded().make_context(info_name, args, parent=parent, **extra)


def group_of(places: Mapping[str, str]) -> type[TyperGroup]:
    """Return the class of a program with these commands.

    Args:
        places: "file:function" of every command, by name, in the order of the help.
    """

    class Group(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = {name: LaterCommand(name, place) for name, place in places.items()}

    return Group
