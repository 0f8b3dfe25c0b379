"""Which images a training uses, and how many of them make a step."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.errors import InvalidArgumentError
from smoothcert.seeding import generator_for
from smoothcert.training.config import TrainConfig


def chosen_images(count: int, most: int | None) -> NDArray[np.int64]:
    """Return the training images to use: all, or a subset that is the same for every seed, in order."""
    if most is None or most >= count:
        return np.arange(count)
    chosen = torch.randperm(count, generator=generator_for(0, 0, "train-subset"))[:most]
    return np.sort(chosen.numpy())


def steps_per_epoch(config: TrainConfig, images: int, processes: int) -> int:
    """Return the steps of an epoch; refuse a batch in which some process would have no image."""
    objective = config.objective()
    per_step = config.batch_size if objective.batch_counts_images else config.batch_size // objective.copies
    if per_step < processes:
        copies = 1 if objective.batch_counts_images else objective.copies
        raise InvalidArgumentError(
            f"batch_size={config.batch_size} is less than an image of {copies} noisy copies for each of {processes} "
            f"processes; use at least {processes * copies}"
        )
    steps = math.ceil(images / per_step)
    if images // steps < processes:
        raise InvalidArgumentError(
            f"{images} training images are too few for {processes} processes; use fewer"
        )
    return steps


def batches_of(images: NDArray[np.int64], steps: int, generator: torch.Generator) -> list[NDArray[np.int64]]:
    """Return the images of every step of an epoch, in an order drawn from the generator.

    Of nearly equal size: a last batch of few rows would upset the statistics of batch norm.
    """
    order = images[torch.randperm(len(images), generator=generator).numpy()]
    return list(np.array_split(order, steps))
