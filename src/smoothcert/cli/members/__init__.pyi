from .command import MemberCommand, command_with
from .command_option import CommandOption
from .exits import EXITS, choose_early_exit
from .group import MemberGroup, OptionGroup
from .noise import NOISE, TRAINED_NOISE, choose_classifier, choose_noise, training_noise
from .procedure import FEW_VOTES, PROCEDURE, choose_procedure
from .rows import ROWS, chosen_row

__all__ = [
    "EXITS",
    "FEW_VOTES",
    "NOISE",
    "PROCEDURE",
    "ROWS",
    "TRAINED_NOISE",
    "CommandOption",
    "MemberCommand",
    "MemberGroup",
    "OptionGroup",
    "choose_classifier",
    "choose_early_exit",
    "choose_noise",
    "choose_procedure",
    "chosen_row",
    "command_with",
    "training_noise",
]
