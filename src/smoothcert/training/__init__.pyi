from .accuracy import head_accuracies, noisy_accuracy
from .config import FLOAT32, TrainConfig
from .epochs import run_epochs
from .fine_tune import fine_tune
from .fitting import fit
from .launching import die_with_parent, is_emulated
from .learning_rate import SCHEDULES
from .limited_yaml import parse_yaml
from .losses.adversarial import Adversarial
from .losses.circular_teaching import CircularTeaching
from .losses.denoising import Denoising
from .measuring import holdout_copies
from .noise_settings import is_noise_option
from .objective import OBJECTIVES, Objective, hyper_parameters
from .objectives.advmacer import AdvMacer
from .objectives.consistency import Consistency
from .objectives.consistency_smoothadv import ConsistencySmoothAdv
from .objectives.gaussian import GaussianAugmentation
from .objectives.macer import Macer
from .objectives.smoothadv import SmoothAdv
from .objectives.smoothmix import SmoothMix
from .objectives.stability import StabilityTraining
from .objectives.standard import StandardTraining
from .outputs.metrics import METRICS_FILE, EpochMetrics
from .outputs.state import read_header
from .outputs.state_header import STATE_FILE
from .recipe import Recipe, load_recipe, recipe_names
from .steps.noise_source import NoiseSource
from .steps.step import Moment, Step
from .train import train

__all__ = [
    "FLOAT32",
    "METRICS_FILE",
    "OBJECTIVES",
    "SCHEDULES",
    "STATE_FILE",
    "AdvMacer",
    "Adversarial",
    "CircularTeaching",
    "Consistency",
    "ConsistencySmoothAdv",
    "Denoising",
    "EpochMetrics",
    "GaussianAugmentation",
    "Macer",
    "Moment",
    "NoiseSource",
    "Objective",
    "Recipe",
    "SmoothAdv",
    "SmoothMix",
    "StabilityTraining",
    "StandardTraining",
    "Step",
    "TrainConfig",
    "die_with_parent",
    "fine_tune",
    "fit",
    "head_accuracies",
    "holdout_copies",
    "hyper_parameters",
    "is_emulated",
    "is_noise_option",
    "load_recipe",
    "noisy_accuracy",
    "parse_yaml",
    "read_header",
    "recipe_names",
    "run_epochs",
    "train",
]
