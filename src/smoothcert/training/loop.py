"""The training loop: one for all objectives, schedules and numbers of processes.

Every random number follows from seed and epoch, so a training that continues after a crash ends with the same
bits. Processes share a step by rows, each draws the noise of the whole step and keeps its own, and gradients are
averaged once per step: not by a wrapper around the model, because objectives run the network many times a step,
also for attacks that must not touch a weight's gradient.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from lightning_fabric import Fabric
from numpy.typing import NDArray
from torch import nn

from smoothcert.errors import ModelOutputError
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import generator_for, state_words, stream_key
from smoothcert.training.batches import batches_of, chosen_images, steps_per_epoch
from smoothcert.training.config import TrainConfig
from smoothcert.training.learning_rate import SCHEDULES, has_dropped
from smoothcert.training.materials import Materials
from smoothcert.training.objective import Objective
from smoothcert.training.steps.noise_source import NoiseSource
from smoothcert.training.steps.rounding import simulated_rounding
from smoothcert.training.steps.step import Moment, Step
from smoothcert.visible import brief


@dataclass(frozen=True)
class EpochResult:
    """What one pass over the training images gave: mean loss parts, the last learning rate, seconds, images."""

    parts: dict[str, float]
    lr: float
    seconds: float
    images: int


class Loop:
    """Steps a model through epochs of its training images.

    Not a judge: it measures nothing on the hold-out and writes no file.

    Args:
        fabric: launched; gives the device, the precision and the other processes.
        model: the network, on the fabric's device, with equal weights in every process.
        optimizer: steps its weights.
        materials: images to train on, and how they are varied.
        config: what to do.
        seed: of order, augmentation and noise.
        on_step: called after every step with the number of steps done and the loss.
    """

    def __init__(
        self,
        fabric: Fabric,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        materials: Materials,
        config: TrainConfig,
        seed: int,
        on_step: Callable[[int, float], None] | None = None,
    ) -> None:
        self.fabric, self.model, self.optimizer = fabric, model, optimizer
        self.train_set, self._augmenting = materials.train_set, materials.augmenting
        self.config, self.seed, self.on_step = config, seed, on_step
        self.objective: Objective = config.objective()
        self.noise: NoiseLaw = config.noise_law()
        self._images = chosen_images(len(self.train_set), config.max_train_images)
        self.steps_per_epoch = steps_per_epoch(config, len(self._images), fabric.world_size)
        self.steps = self.steps_per_epoch * config.epochs
        self._milestones = [milestone / config.epochs for milestone in config.milestones]

    def epoch(self, number: int) -> EpochResult:
        """Train for one epoch (from 0) and return what it gave, over all processes."""
        began = time.perf_counter()
        self.model.train()
        self._seed_dropout(number)
        totals: dict[str, float] = defaultdict(float)
        draws = _generator(self.fabric.device, self.seed, number, "train-noise")
        crops = generator_for(self.seed, number, "train-augment")
        for step, chosen in self._batches(number):
            parts = self._step(step, number, chosen, draws, crops)
            for name, value in parts.items():
                totals[name] += value * len(chosen)
            if self.on_step is not None:
                self.on_step(step + 1, sum(parts.values()))
        self._average_buffers()
        parts = {name: total / len(self._images) for name, total in totals.items()}
        lr = self.optimizer.param_groups[0]["lr"]
        return EpochResult(parts, lr, time.perf_counter() - began, len(self._images))

    def _seed_dropout(self, epoch: int) -> None:
        """Place torch's own generator, which dropout draws from and which the caller lends to this training."""
        phase = f"train-torch-{self.fabric.global_rank}"
        torch.random.set_rng_state(generator_for(self.seed, epoch, phase).get_state())
        if self.fabric.device.type == "cuda":
            words = state_words(stream_key(self.seed, epoch, phase, 1))
            torch.cuda.manual_seed(int(words[0]) << 32 | int(words[1]))

    def _batches(self, epoch: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the number of each step and its images, over all processes."""
        generator = generator_for(self.seed, epoch, "train-order")
        batches = batches_of(self._images, self.steps_per_epoch, generator)
        yield from enumerate(batches, start=epoch * self.steps_per_epoch)

    def _step(
        self,
        step: int,
        epoch: int,
        chosen: NDArray[np.int64],
        draws: torch.Generator,
        crops: torch.Generator,
    ) -> dict[str, float]:
        """Take one step and return the named parts of its loss, over all processes."""
        config, fabric = self.config, self.fabric
        share = SCHEDULES[config.schedule](step, self.steps, self._milestones)
        for group in self.optimizer.param_groups:
            group["lr"] = config.lr * share
        first = len(chosen) * fabric.global_rank // fabric.world_size
        rows = chosen[first : len(chosen) * (fabric.global_rank + 1) // fabric.world_size]
        images = self._augmenting.images(self.train_set, rows, crops, first, len(chosen))
        images = images.to(fabric.device, non_blocking=True)
        labels = torch.from_numpy(self.train_set.labels[rows]).to(fabric.device, non_blocking=True)
        source = NoiseSource(self.noise, draws, first=first, total=len(chosen))
        with fabric.autocast(), simulated_rounding(self.model, config.rounding):
            parts = self.objective.loss(Step(self.model, images, labels, source, self._moment(step, epoch)))
        _refuse_shapeless(parts, config.method)
        # Weighted, so that the mean over processes is the mean over images.
        weight = len(rows) * fabric.world_size / len(chosen)
        self.optimizer.zero_grad()
        fabric.backward(torch.stack([*parts.values()]).sum() * weight)
        self._average_gradients()
        values = self._mean(torch.stack([value.detach().float() for value in parts.values()]) * weight)
        named = dict(zip(parts, values.tolist(), strict=True))
        _refuse_nonsense(named, epoch + 1, config)
        self.optimizer.step()
        return named

    def _moment(self, step: int, epoch: int) -> Moment:
        warm = min(1.0, (epoch + 1) / self.config.warmup_epochs) if self.config.warmup_epochs else 1.0
        dropped = has_dropped(step, self.steps, self._milestones)
        return Moment(warm, dropped, epoch + 1, self.config.epochs)

    def _mean(self, values: torch.Tensor) -> torch.Tensor:
        if self.fabric.world_size == 1:
            return values
        averaged = self.fabric.all_reduce(values, reduce_op="mean")
        assert isinstance(averaged, torch.Tensor)
        return averaged

    def _average_gradients(self) -> None:
        if self.fabric.world_size == 1:
            return
        gradients = [weight.grad for weight in self.model.parameters() if weight.grad is not None]
        flat = self._mean(torch.cat([gradient.flatten() for gradient in gradients]))
        sizes = [gradient.numel() for gradient in gradients]
        for gradient, mean in zip(gradients, torch.split(flat, sizes), strict=True):
            gradient.copy_(mean.view_as(gradient))

    def _average_buffers(self) -> None:
        """Let all processes go on with the mean of their batch-norm statistics."""
        if self.fabric.world_size > 1:
            # Not of parts in eval mode, which learn nothing: a mean of three equal numbers may differ in its last bit.
            learning = [part for part in self.model.modules() if part.training]
            for buffer in (buffer for part in learning for buffer in part.buffers(recurse=False)):
                if buffer.is_floating_point():
                    buffer.copy_(self._mean(buffer.clone()))


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Return the configured optimiser of all weights."""
    if config.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    return torch.optim.SGD(
        model.parameters(),
        lr=config.lr,
        momentum=config.momentum,
        weight_decay=config.weight_decay,
        nesterov=config.nesterov,
    )


def _generator(device: torch.device, seed: int, epoch: int, phase: str) -> torch.Generator:
    """Return a keyed generator on the device of the images."""
    if device.type == "cpu":
        return generator_for(seed, epoch, phase)
    words = state_words(stream_key(seed, epoch, phase, 0))
    return torch.Generator(device).manual_seed(int(words[0]) << 32 | int(words[1]))


def _refuse_shapeless(parts: dict[str, torch.Tensor], method: str) -> None:
    """Refuse what is no named scalars: the method may be another package's."""
    scalars = isinstance(parts, dict) and [
        isinstance(one, torch.Tensor) and one.dim() == 0 for one in parts.values()
    ]
    if not scalars or not all(scalars):
        raise ModelOutputError(
            f"method {method!r} must return the named parts of its loss, a tensor without dimensions each, got "
            f"{brief(parts)}; correct its `loss`"
        )


def _refuse_nonsense(parts: dict[str, float], epoch: int, config: TrainConfig) -> None:
    """Stop, before the step, when the loss is no number any more."""
    loss = sum(parts.values())
    if not math.isfinite(loss):
        named = ", ".join(f"{name} {value:g}" for name, value in parts.items())
        raise ModelOutputError(
            f"the training loss became {loss} in epoch {epoch} ({named}); choose a learning rate below "
            f"lr={config.lr:g}"
        )
