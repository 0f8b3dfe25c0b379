"""Plain options: those that several commands share, and those that belong together as one argument."""

from smoothcert.cli.options.ensemble import Choosing, Claims, Voting, typed
from smoothcert.cli.options.images import Source, Subset
from smoothcert.cli.options.paths import folder_option, path_argument, path_option
from smoothcert.cli.options.recipe import Changes, RecipeName, chosen_config
from smoothcert.cli.options.running import (
    Alpha,
    BatchSize,
    DataDir,
    Engine,
    ModelFolder,
    Running,
    Seed,
    Workers,
    choose_seed,
    read_numbers,
)
from smoothcert.cli.options.training import Devices, Training
from smoothcert.cli.options.unfolding import unfolded, with_parameters

__all__ = [
    "Alpha",
    "BatchSize",
    "Changes",
    "Choosing",
    "Claims",
    "DataDir",
    "Devices",
    "Engine",
    "ModelFolder",
    "RecipeName",
    "Running",
    "Seed",
    "Source",
    "Subset",
    "Training",
    "Voting",
    "Workers",
    "choose_seed",
    "chosen_config",
    "folder_option",
    "path_argument",
    "path_option",
    "read_numbers",
    "typed",
    "unfolded",
    "with_parameters",
]
