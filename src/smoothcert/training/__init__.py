"""Training: data + objective + configuration -> a checkpoint, by one loop."""

from smoothcert.training.accuracy import noisy_accuracy
from smoothcert.training.advmacer import AdvMacer
from smoothcert.training.circular_consistency import CircularConsistency
from smoothcert.training.circular_gaussian import CircularGaussian
from smoothcert.training.circular_smoothmix import CircularSmoothMix
from smoothcert.training.circular_teaching import CircularTeaching
from smoothcert.training.config import TrainConfig, hyper_parameters
from smoothcert.training.consistency import Consistency
from smoothcert.training.consistency_smoothadv import ConsistencySmoothAdv
from smoothcert.training.course import fit
from smoothcert.training.denoiser_ce import DenoiserCe
from smoothcert.training.denoiser_mse import DenoiserMse
from smoothcert.training.denoiser_stability import DenoiserStability
from smoothcert.training.drt import Drt
from smoothcert.training.drt_smoothadv import DrtSmoothAdv
from smoothcert.training.fine_tune import fine_tune
from smoothcert.training.gaussian import GaussianAugmentation
from smoothcert.training.macer import Macer
from smoothcert.training.metrics import EpochMetrics
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective
from smoothcert.training.recipe import Recipe, load_recipe, recipe_names
from smoothcert.training.schedule import SCHEDULES
from smoothcert.training.smoothadv import SmoothAdv
from smoothcert.training.smoothmix import SmoothMix
from smoothcert.training.stability import StabilityTraining
from smoothcert.training.standard import StandardTraining
from smoothcert.training.train import train

__all__ = [
    "OBJECTIVES",
    "SCHEDULES",
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
    "fine_tune",
    "fit",
    "hyper_parameters",
    "load_recipe",
    "noisy_accuracy",
    "recipe_names",
    "train",
]
