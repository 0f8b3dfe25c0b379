"""One option of a command that a member brings, and how Typer gets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any

import typer
from rich.markup import escape

from smoothcert.cli.options import with_parameters


@dataclass(frozen=True)
class CommandOption:
    """One option of a command.

    Args:
        name: without dashes in front.
        kind: bool for a flag, int, float or str.
        text: its help.
        many: whether it takes values with commas between them; it stays a text until a member reads it.
        default: what holds where it is not given; None if a member decides.
        negatable: whether a flag has an opposite, --no-NAME.
        owner: who brings it, for messages.
    """

    name: str
    kind: type
    text: str
    many: bool = False
    default: Any = None
    negatable: bool = False
    owner: str = "this package"

    @property
    def spellings(self) -> list[str]:
        """What a user types."""
        return [f"--{self.name}", *([f"--no-{self.name}"] if self.negatable else [])]


def built(options: Sequence[CommandOption], key: str, panel: str) -> list[Any]:
    """Return options as the parameters of a command, by way of a command that Typer makes of them.

    Args:
        options: to build.
        key: starts the parameters' names, so that they are like none of the command's own.
        panel: heading of their part of the help.
    """
    parameters = [
        Parameter(
            f"{key}_{number}", Parameter.KEYWORD_ONLY, default=option.default, annotation=_hint(option, panel)
        )
        for number, option in enumerate(options)
    ]

    def nothing(**_: Any) -> None:
        pass

    app = typer.Typer(add_completion=False)
    app.command()(with_parameters(nothing, parameters))
    return list(typer.main.get_command(app).params)


def _hint(option: CommandOption, panel: str) -> Any:
    info = typer.Option(
        "/".join(option.spellings),
        help=escape(option.text),  # a docstring may well speak of [a, b]
        rich_help_panel=panel,
        metavar=f"<{option.kind.__name__}>,.." if option.many else None,
    )
    kind = str if option.many else option.kind
    return Annotated[kind | None, info]
