"""Options that come from the members of registries, built when the command that has them runs."""

from smoothcert.cli.members.command import MemberCommand, command_with
from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.exits import EXITS, choose_early_exit
from smoothcert.cli.members.group import MemberGroup, OptionGroup
from smoothcert.cli.members.noise import NOISE, choose_classifier
from smoothcert.cli.members.procedure import FEW_VOTES, PROCEDURE, choose_procedure
from smoothcert.cli.members.rows import ROWS, chosen_row

__all__ = [
    "EXITS",
    "FEW_VOTES",
    "NOISE",
    "PROCEDURE",
    "ROWS",
    "CommandOption",
    "MemberCommand",
    "MemberGroup",
    "OptionGroup",
    "choose_classifier",
    "choose_early_exit",
    "choose_procedure",
    "chosen_row",
    "command_with",
]
