"""What a training is made of beside its configuration: images, the first model, and how images are varied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from smoothcert.data import DATASETS, Dataset
from smoothcert.training.augmenting import Augmenting, NamedAugmenting
from smoothcert.training.config import TrainConfig
from smoothcert.training.first_model import first_model

FirstModel = Callable[[TrainConfig, Dataset], nn.Module]
"""From the configuration, seed included, and the training images to the model with its first weights."""

_AS_THEY_ARE = NamedAugmenting("none")


@dataclass(frozen=True)
class Materials:
    """What one loop trains, for trainings by name and for a user's own alike.

    Args:
        train_set: images to train on.
        holdout_set: images to measure on; None for none.
        first_model: called once in every process, while torch's global generator is keyed by the seed.
        augmenting: gives the images of a step.
    """

    train_set: Dataset
    holdout_set: Dataset | None = None
    first_model: FirstModel = first_model
    augmenting: Augmenting = _AS_THEY_ARE

    @staticmethod
    def named(config: TrainConfig, train_set: Dataset, model: FirstModel = first_model) -> Materials:
        """Return what a configuration names.

        Args:
            config: of a training by name.
            train_set: its training images, which have been read.
            model: what makes its first model.
        """
        augmentation = DATASETS[config.dataset].augmentation if config.augment else "none"
        return Materials(train_set, config.holdout_images(), model, NamedAugmenting(augmentation))
