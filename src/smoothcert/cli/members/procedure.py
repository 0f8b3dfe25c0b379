"""Procedures on the command line: one by name, and what it can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import typer

from smoothcert import certificates
from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.group import MemberGroup, OptionGroup, merged

_DEFAULT = "fixed"
PROCEDURE = MemberGroup(certificates.PROCEDURES, "procedure", "Procedure", default=_DEFAULT)


class OneProcedure(OptionGroup):
    """What one procedure can be told, where a command leaves no choice of another.

    Args:
        panel: heading in the help.
        name: of the procedure.
        defaults: of the command, by option, in place of the procedure's own.
    """

    def __init__(self, panel: str, name: str, defaults: Mapping[str, Any]) -> None:
        super().__init__("procedure", panel)
        self.name, self.defaults = name, defaults

    def options(self) -> list[CommandOption]:
        """Return the procedure's options, with the command's defaults."""
        told = [
            replace(option, default=self.defaults.get(option.name, option.default))
            for option in certificates.PROCEDURES[self.name].options()
        ]
        return [merged(certificates.PROCEDURES, {self.name: option}, members=1) for option in told]

    def given(self, context: typer.Context) -> dict[str, Any]:
        """Return the procedure's name, and what was given or holds by default."""
        return {self.key: self.name, **self.defaults, **super().given(context)}


FEW_VOTES = OneProcedure("Procedure", _DEFAULT, {"n": 1_000})


def choose_procedure(given: Mapping[str, Any]) -> certificates.Procedure:
    """Make a procedure from what the options of `PROCEDURE` say; refuse those that it does not take."""
    told = dict(given)
    return certificates.PROCEDURES[told.pop("procedure", _DEFAULT)].from_options(told)
