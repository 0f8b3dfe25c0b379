"""Training: data + objective + configuration -> a checkpoint, by one loop."""

from smoothcert.training.accuracy import head_accuracies, noisy_accuracy
from smoothcert.training.config import TrainConfig
from smoothcert.training.epochs import run_epochs
from smoothcert.training.fine_tune import fine_tune
from smoothcert.training.fit import fit
from smoothcert.training.launching import die_with_parent
from smoothcert.training.learning_rate import SCHEDULES
from smoothcert.training.limited_yaml import parse_yaml
from smoothcert.training.losses.adversarial import Adversarial
from smoothcert.training.losses.circular_teaching import CircularTeaching
from smoothcert.training.losses.denoising import Denoising
from smoothcert.training.measuring import holdout_copies
from smoothcert.training.noise_settings import is_noise_option
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Objective, hyper_parameters
from smoothcert.training.objectives.advmacer import AdvMacer
from smoothcert.training.objectives.consistency import Consistency
from smoothcert.training.objectives.consistency_smoothadv import ConsistencySmoothAdv
from smoothcert.training.objectives.gaussian import GaussianAugmentation
from smoothcert.training.objectives.macer import Macer
from smoothcert.training.objectives.smoothadv import SmoothAdv
from smoothcert.training.objectives.smoothmix import SmoothMix
from smoothcert.training.objectives.stability import StabilityTraining
from smoothcert.training.objectives.standard import StandardTraining
from smoothcert.training.outputs.metrics import EpochMetrics
from smoothcert.training.outputs.state import read_header
from smoothcert.training.outputs.state_header import STATE_FILE
from smoothcert.training.recipe import Recipe, load_recipe, recipe_names
from smoothcert.training.step import Moment, Step
from smoothcert.training.train import train

__all__ = [
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
    "is_noise_option",
    "load_recipe",
    "noisy_accuracy",
    "parse_yaml",
    "read_header",
    "recipe_names",
    "run_epochs",
    "train",
]
