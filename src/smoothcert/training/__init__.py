"""Training: data + objective + configuration -> a checkpoint, by one loop."""

from smoothcert.training.accuracy import noisy_accuracy
from smoothcert.training.config import TrainConfig, hyper_parameters
from smoothcert.training.course import fit
from smoothcert.training.gaussian import GaussianAugmentation
from smoothcert.training.metrics import EpochMetrics
from smoothcert.training.noise_source import NoiseSource
from smoothcert.training.objective import OBJECTIVES, Moment, Objective
from smoothcert.training.schedule import SCHEDULES
from smoothcert.training.train import train

__all__ = [
    "OBJECTIVES",
    "SCHEDULES",
    "EpochMetrics",
    "GaussianAugmentation",
    "Moment",
    "NoiseSource",
    "Objective",
    "TrainConfig",
    "fit",
    "hyper_parameters",
    "noisy_accuracy",
    "train",
]
