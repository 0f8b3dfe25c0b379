from .ensemble import Choosing, Claims, Voting, typed
from .images import Source, Subset
from .paths import folder_option, path_argument, path_option
from .recipe import Changes, RecipeName, chosen_config
from .running import (
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
from .training import Devices, Training
from .unfolding import unfolded, with_parameters

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
