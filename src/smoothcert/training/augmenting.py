"""How the images of a step are varied: as a name says, or by a function of the user's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from typing_extensions import override

from smoothcert.data import Dataset, augmented_batch
from smoothcert.errors import ModelOutputError
from smoothcert.visible import brief

Vary = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
"""From a batch of images in pixel units and the only source of randomness to a batch of the same shape."""


class Augmenting(ABC):
    """Gives the images of a step. Not a random source: the generator is an argument."""

    @abstractmethod
    def images(
        self, dataset: Dataset, rows: NDArray[np.int64], generator: torch.Generator, first: int, total: int
    ) -> torch.Tensor:
        """Return the images of this process's rows as one new float32 tensor.

        Args:
            dataset: the training split.
            rows: this process's rows of the step.
            generator: placed at the start of the step's stream; on the CPU.
            first: place of this process's first row in the step.
            total: rows of the whole step.
        """


@dataclass(frozen=True)
class NamedAugmenting(Augmenting):
    """An augmentation of the package.

    Args:
        name: in `AUGMENTATIONS`.
    """

    name: str

    @override
    def images(
        self, dataset: Dataset, rows: NDArray[np.int64], generator: torch.Generator, first: int, total: int
    ) -> torch.Tensor:
        return augmented_batch(dataset, rows, self.name, generator, first=first, total=total)


@dataclass(frozen=True)
class OwnAugmenting(Augmenting):
    """A function of the user's own; for trainings in one process.

    Args:
        vary: from images and a generator to images; called with new tensors, which it may change.
    """

    vary: Vary

    @override
    def images(
        self, dataset: Dataset, rows: NDArray[np.int64], generator: torch.Generator, first: int, total: int
    ) -> torch.Tensor:
        images = dataset.batch(rows)
        shape = tuple(images.shape)
        varied = self.vary(images, generator)
        if not isinstance(varied, torch.Tensor) or tuple(varied.shape) != shape:
            got = tuple(varied.shape) if isinstance(varied, torch.Tensor) else brief(varied, 60)
            raise ModelOutputError(
                f"augment must return a tensor of the images' shape {shape}, got {got}; correct the function"
            )
        return varied.float()
