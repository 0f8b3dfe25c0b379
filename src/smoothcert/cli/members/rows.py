"""Rows of recipes on the command line: by the first option of a law of noise, such as sigma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smoothcert import noise, training
from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.group import OptionGroup, owner_of
from smoothcert.errors import InvalidArgumentError


class RowOptions(OptionGroup):
    """An option for everything that rows of recipes can differ in."""

    def options(self) -> list[CommandOption]:
        """Return the first option of every law, each once; rows are numbers."""
        laws: dict[str, list[str]] = {}
        for law in noise.NOISE_LAWS:
            for option in noise.NOISE_LAWS[law].options()[:1]:
                if option.kind in (int, float) and not option.many:
                    laws.setdefault(option.name, []).append(law)
        return [
            CommandOption(
                name,
                float,
                f"Row of a recipe for {_either(names)} noise; its first by default.",
                owner=owner_of(noise.NOISE_LAWS, names),
            )
            for name, names in laws.items()
        ]


ROWS = RowOptions("row", "Noise")


def chosen_row(recipe: str, given: Mapping[str, Any]) -> float | None:
    """Return the row asked for by the option that suits the recipe's noise.

    Args:
        recipe: its name or file.
        given: what the options of `ROWS` say.
    """
    key = training.load_recipe(recipe).row_key
    rows = {name.replace("-", "_"): value for name, value in given.items()}
    for name in rows:
        if name != key:
            raise InvalidArgumentError(f"recipe {recipe!r} has rows by {key}, not by {name}; use --{key}")
    return rows.get(key)


def _either(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
