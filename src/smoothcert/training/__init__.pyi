from .accuracy import head_accuracies, noisy_accuracy
from .config import TrainConfig
from .epochs import fit
from .fine_tune import fine_tune
from .launching import die_with_parent
from .learning_rate import SCHEDULES
from .limited_yaml import parse_yaml
from .losses.adversarial import Adversarial
from .losses.circular_teaching import CircularTeaching
from .losses.denoising import Denoising
from .measuring import holdout_copies
from .noise_settings import is_noise_option
from .noise_source import NoiseSource
from .objective import OBJECTIVES, Objective, hyper_parameters
from .outputs.metrics import EpochMetrics
from .outputs.state import read_header
from .outputs.state_header import STATE_FILE
from .recipe import Recipe, load_recipe, recipe_names
from .step import Moment, Step
from .train import train

__all__ = [
    "OBJECTIVES",
    "SCHEDULES",
    "STATE_FILE",
    "Adversarial",
    "CircularTeaching",
    "Denoising",
    "EpochMetrics",
    "Moment",
    "NoiseSource",
    "Objective",
    "Recipe",
    "Step",
    "TrainConfig",
    "die_with_parent",
    "fine_tune",
    "fit",
    "head_accuracies",
    "holdout_copies",
    "hyper_parameters",
    "is_noise_option",
    "load_recipe",
    "noisy_accuracy",
    "parse_yaml",
    "read_header",
    "recipe_names",
    "train",
]
