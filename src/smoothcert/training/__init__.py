"""Training: data + objective + configuration -> a checkpoint, by one loop."""

from smoothcert.training.accuracy import head_accuracies, noisy_accuracy
from smoothcert.training.config import TrainConfig, hyper_parameters
from smoothcert.training.epochs import fit, holdout_copies
from smoothcert.training.fine_tune import fine_tune
from smoothcert.training.launching import die_with_parent
from smoothcert.training.learning_rate import SCHEDULES
from smoothcert.training.limited_yaml import parse_yaml
from smoothcert.training.losses.circular_teaching import CircularTeaching
from smoothcert.training.metrics import EpochMetrics
from smoothcert.training.noise_settings import is_noise_option
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective
from smoothcert.training.objectives.advmacer import AdvMacer
from smoothcert.training.objectives.consistency import Consistency
from smoothcert.training.objectives.consistency_smoothadv import ConsistencySmoothAdv
from smoothcert.training.objectives.denoiser_ce import DenoiserCe
from smoothcert.training.objectives.denoiser_mse import DenoiserMse
from smoothcert.training.objectives.denoiser_stability import DenoiserStability
from smoothcert.training.objectives.drt import Drt
from smoothcert.training.objectives.drt_smoothadv import DrtSmoothAdv
from smoothcert.training.objectives.gaussian import GaussianAugmentation
from smoothcert.training.objectives.macer import Macer
from smoothcert.training.objectives.smoothadv import SmoothAdv
from smoothcert.training.objectives.smoothmix import SmoothMix
from smoothcert.training.objectives.some_consistency import CircularConsistency
from smoothcert.training.objectives.some_gaussian import CircularGaussian
from smoothcert.training.objectives.some_smoothmix import CircularSmoothMix
from smoothcert.training.objectives.stability import StabilityTraining
from smoothcert.training.objectives.standard import StandardTraining
from smoothcert.training.recipe import Recipe, load_recipe, recipe_names
from smoothcert.training.state import read_header
from smoothcert.training.state_header import STATE_FILE
from smoothcert.training.train import train

__all__ = [
    "OBJECTIVES",
    "SCHEDULES",
    "STATE_FILE",
    "AdvMacer",
    "CircularConsistency",
    "CircularGaussian",
    "CircularSmoothMix",
    "CircularTeaching",
    "Consistency",
    "ConsistencySmoothAdv",
    "DenoiserCe",
    "DenoiserMse",
    "DenoiserStability",
    "Drt",
    "DrtSmoothAdv",
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
