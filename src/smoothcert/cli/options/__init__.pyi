from .ensemble import Choosing, Claims, Voting, typed
from .images import Source, Subset, own_dataset
from .own_members import OwnMembers
from .own_model import (
    Factory,
    FactoryArgs,
    InputShape,
    Mean,
    NumClasses,
    OwnModel,
    Std,
    read_arguments,
    read_facts,
)
from .paper import PaperFiles
from .paths import folder_option, path_argument, path_option
from .pieces import Pieces
from .ray import Ray, where
from .recipe import Changes, RecipeName, chosen_config
from .results import Norm, Radii, Target, read_radii, read_summaries
from .running import (
    Alpha,
    BatchSize,
    DataDir,
    Engine,
    ModelFolder,
    ModelOrPlan,
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
    "Factory",
    "FactoryArgs",
    "InputShape",
    "Mean",
    "ModelFolder",
    "ModelOrPlan",
    "Norm",
    "NumClasses",
    "OwnMembers",
    "OwnModel",
    "PaperFiles",
    "Pieces",
    "Radii",
    "Ray",
    "RecipeName",
    "Running",
    "Seed",
    "Source",
    "Std",
    "Subset",
    "Target",
    "Training",
    "Voting",
    "Workers",
    "choose_seed",
    "chosen_config",
    "folder_option",
    "own_dataset",
    "path_argument",
    "path_option",
    "read_arguments",
    "read_facts",
    "read_numbers",
    "read_radii",
    "read_summaries",
    "typed",
    "unfolded",
    "where",
    "with_parameters",
]
