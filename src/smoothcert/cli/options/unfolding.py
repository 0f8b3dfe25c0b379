"""Options that belong together as one argument of a command: a dataclass, unfolded for Typer, which knows none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

Command = Callable[..., None]


def unfolded(command: Command) -> Command:
    """Return a command that takes one option per field of those of its arguments that are dataclasses.

    A field is annotated as an option of a command is: `Annotated[int | None, typer.Option(..)] = None`.
    """
    hints = get_type_hints(command, include_extras=True)
    folds = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    flat: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        flat += (
            _fields(folds[parameter.name])
            if parameter.name in folds
            else [parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])]
        )

    def run(**given: Any) -> None:
        folded = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in folds.items()
        }
        command(**given, **folded)

    return with_parameters(run, flat, like=command)


def with_parameters(run: Command, parameters: list[Parameter], like: Command | None = None) -> Command:
    """Return a function that takes anything as one that says what it takes, which is what Typer reads.

    Args:
        run: takes keywords.
        parameters: what it is to say that it takes.
        like: the command whose name and text it has.
    """
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature looks for
    if like is not None:
        run.__name__, run.__doc__ = like.__name__, like.__doc__
    return run


def _fields(kind: type) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
