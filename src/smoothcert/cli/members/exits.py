"""Early exits on the command line: each by its own name, and what it can be told."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from smoothcert import ensembles
from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.group import OptionGroup, owner_of
from smoothcert.cli.members.help_text import help_text
from smoothcert.errors import InvalidArgumentError
from smoothcert.options import Option


class ExitOptions(OptionGroup):
    """Early exits: --NAME chooses one, by an option of its own of that name or as a flag; --NAME-OPTION tells it more.

    Not a choice by one option for all, because what is typed most, `--consensus 2`, should be short.
    """

    def options(self) -> list[CommandOption]:
        """Return the options of every early exit."""
        options = []
        for name in ensembles.EARLY_EXITS:
            told, owner = _spelled(name), owner_of(ensembles.EARLY_EXITS, [name])
            if name not in told:
                options.append(CommandOption(name, bool, f"{_about(name)}.", owner=owner))
            options += [
                CommandOption(
                    spelled,
                    option.kind,
                    f"{_about(name)}: {option.text}"
                    if spelled == name
                    else help_text({name: option}, members=1),
                    many=option.many,
                    negatable=option.default is True,
                    owner=owner,
                )
                for spelled, option in told.items()
            ]
        return options


EXITS = ExitOptions("early_exit", "Early exit")


def choose_early_exit(given: Mapping[str, Any]) -> ensembles.EarlyExit | None:
    """Make an early exit from what the options of `EXITS` say; None where they say nothing."""
    named = [name for name in ensembles.EARLY_EXITS if name in given]
    for name in ensembles.EARLY_EXITS:
        for spelled in _spelled(name):
            if spelled in given and name not in named:
                raise InvalidArgumentError(f"--{spelled} is for {name} prediction: add --{name}")
    if len(named) > 1:
        raise InvalidArgumentError(f"{' and '.join(named)} both stop early; choose one of them")
    return _made(named[0], given) if named else None


def _made(name: str, given: Mapping[str, Any]) -> ensembles.EarlyExit:
    spelled = _spelled(name)
    for typed, option in spelled.items():
        if option.required and typed not in given:
            raise InvalidArgumentError(f"--{name} needs --{typed} ({option.text.rstrip('.')}); add it")
    told = {option.name: given[typed] for typed, option in spelled.items() if typed in given}
    try:
        return ensembles.EARLY_EXITS[name].from_options(told)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(_as_typed(str(error), spelled)) from error


def _as_typed(message: str, spelled: Mapping[str, Option]) -> str:
    """Return a message about an argument of the member as one about the option that was typed."""
    for typed, option in spelled.items():
        if message.startswith(f"{option.field} "):
            default = "" if option.default is None else f"; {option.default} by default"
            return f"--{typed}{message.removeprefix(option.field)}{default}"
    return message


def _spelled(name: str) -> dict[str, Option]:
    """Return what an early exit can be told, by what is typed for it."""
    return {
        option.name
        if option.name == name or option.name.startswith(f"{name}-")
        else f"{name}-{option.name}": option
        for option in ensembles.EARLY_EXITS[name].options()
    }


def _about(name: str) -> str:
    """Return the first sentence of an early exit's docstring, and the voting rule that it is for."""
    text = (inspect.getdoc(ensembles.EARLY_EXITS[name]) or "").partition("\n")[0].rstrip(".")
    rule = ensembles.EARLY_EXITS[name].rule
    return text if rule is None else f"{text} (rule {rule})"
