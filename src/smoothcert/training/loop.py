"""The training loop: stochastic gradient descent on any objective, with all randomness from keyed streams."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from smoothcert.data import Dataset
from smoothcert.errors import ModelOutputError
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import generator_for
from smoothcert.training.accuracy import noisy_accuracy
from smoothcert.training.config import TrainConfig
from smoothcert.training.objective import Objective

_WARM_UP = 0.3  # part of the steps in which the learning rate rises
_HOLDOUT_DRAWS = 10  # noisy copies per hold-out image, the same ones after every epoch


@dataclass(frozen=True)
class EpochMetrics:
    """How one epoch went.

    Args:
        epoch: number of the epoch, from 1.
        loss: mean training loss per image.
        holdout_noisy_accuracy: fraction of noisy hold-out images classified right.
        seconds: time since training began.
    """

    epoch: int
    loss: float
    holdout_noisy_accuracy: float
    seconds: float


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Return the one-cycle learning rate: a straight rise to `peak`, then half a cosine down to 0.

    Args:
        step: number of the step, from 0.
        steps: number of steps in all.
        peak: largest learning rate.
    """
    rise = _WARM_UP * steps
    if step + 1 < rise:
        return peak * (step + 1) / rise
    return peak * (1 + math.cos(math.pi * (step + 1 - rise) / (steps + 1 - rise))) / 2


def fit(
    model: nn.Module,
    train_set: Dataset,
    holdout_set: Dataset,
    *,
    objective: Objective,
    noise: NoiseLaw,
    config: TrainConfig,
    seed: int,
    on_epoch: Callable[[EpochMetrics], None] | None = None,
) -> EpochMetrics:
    """Train `model` in place, leave it in eval mode and return the metrics of the last epoch.

    Not a search: the hold-out split is measured and never trained on or selected by.

    Args:
        model: the network, with its first weights.
        train_set: images to train on.
        holdout_set: images to measure on.
        objective: the loss.
        noise: the law of the noise.
        config: epochs, batch size and the optimiser's settings.
        seed: of the shuffling and of the noise.
        on_epoch: called with the metrics after every epoch.
    """
    optimizer = torch.optim.SGD(
        model.parameters(), lr=config.lr, momentum=config.momentum, weight_decay=config.weight_decay
    )
    batches = math.ceil(len(train_set) / config.batch_size)
    began = time.perf_counter()
    for epoch in range(config.epochs):
        model.train()
        order = torch.randperm(len(train_set), generator=generator_for(seed, epoch, "train-order")).numpy()
        draws = generator_for(seed, epoch, "train-noise")
        total = 0.0
        # Batches of nearly equal size: a last one of few rows would upset the statistics of batch norm.
        for number, chosen in enumerate(np.array_split(order, batches)):
            step = epoch * batches + number
            optimizer.param_groups[0]["lr"] = learning_rate(step, config.epochs * batches, config.lr)
            images, labels = train_set.batch(chosen), torch.from_numpy(train_set.labels[chosen])
            loss = sum(objective.loss(model, images, labels, noise, draws).values(), torch.zeros(()))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += _finite(loss.item(), epoch + 1, config) * len(chosen)
        accuracy = noisy_accuracy(
            model, holdout_set, noise, draws=_HOLDOUT_DRAWS, generator=generator_for(seed, 0, "holdout-noise")
        )
        metrics = EpochMetrics(epoch + 1, total / len(train_set), accuracy, time.perf_counter() - began)
        if on_epoch is not None:
            on_epoch(metrics)
    model.eval()
    return metrics


def _finite(loss: float, epoch: int, config: TrainConfig) -> float:
    """Return the loss, or stop when it is no number any more."""
    if not math.isfinite(loss):
        raise ModelOutputError(
            f"the training loss became {loss} in epoch {epoch}; choose a learning rate below lr={config.lr}"
        )
    return loss
