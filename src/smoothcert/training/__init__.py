"""Training: data + objective + configuration -> a checkpoint, by one loop."""

from smoothcert.training.accuracy import noisy_accuracy
from smoothcert.training.config import TrainConfig
from smoothcert.training.gaussian import GaussianAugmentation
from smoothcert.training.loop import EpochMetrics, fit
from smoothcert.training.objective import OBJECTIVES, Objective
from smoothcert.training.train import train

__all__ = [
    "OBJECTIVES",
    "EpochMetrics",
    "GaussianAugmentation",
    "Objective",
    "TrainConfig",
    "fit",
    "noisy_accuracy",
    "train",
]
