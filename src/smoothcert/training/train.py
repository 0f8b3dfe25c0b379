"""Training from a configuration to a model folder."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from smoothcert.data import Dataset, load_dataset
from smoothcert.errors import CheckpointError
from smoothcert.models import ModelCard, create_model, load_checkpoint, save_checkpoint
from smoothcert.models.checkpoint import CARD_FILE
from smoothcert.noise import NOISE_LAWS
from smoothcert.seeding import check_seed, generator_for
from smoothcert.training.config import TrainConfig
from smoothcert.training.loop import EpochMetrics, fit
from smoothcert.training.objective import OBJECTIVES

_TORCH_STATE = threading.Lock()  # of torch's global generator, which only one training at a time may borrow


def train(
    config: TrainConfig | Mapping[str, Any],
    out: str | Path,
    *,
    on_epoch: Callable[[EpochMetrics], None] | None = None,
) -> ModelCard:
    """Train a model and write its folder; the same seed gives the same weights, bit for bit.

    Not a second training where one is done: a folder with a model of the same configuration is returned as it
    is. Nothing is written before training has succeeded. Trainings in threads of one process take turns.

    Args:
        config: the configuration, or its settings as a mapping.
        out: folder to write the model to.
        on_epoch: called with the metrics after every epoch.
    """
    config = config if isinstance(config, TrainConfig) else TrainConfig(**config)
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise CheckpointError(f"{out} is a file; choose a folder to write the model to")
    train_set = load_dataset(config.dataset, "train", config.data_dir)
    if (out / CARD_FILE).exists():
        return _finished(out, config, train_set)
    holdout_set = load_dataset(config.dataset, "holdout", config.data_dir)
    config = config.model_copy(update={"seed": check_seed(config.seed)})
    return _train(config, train_set, holdout_set, out, on_epoch)


def _train(
    config: TrainConfig,
    train_set: Dataset,
    holdout_set: Dataset,
    out: Path,
    on_epoch: Callable[[EpochMetrics], None] | None,
) -> ModelCard:
    """Train and save, with a seed that is known."""
    seed = check_seed(config.seed)
    noise = NOISE_LAWS[config.noise].from_sigma(config.sigma)
    mean, std = (0.0,), (1.0,)
    with _own_torch_state(seed):
        model = create_model(
            config.model,
            num_classes=train_set.num_classes,
            input_shape=train_set.input_shape,
            mean=mean,
            std=std,
        )
        objective = OBJECTIVES[config.method]()
        last = fit(
            model,
            train_set,
            holdout_set,
            objective=objective,
            noise=noise,
            config=config,
            seed=seed,
            on_epoch=on_epoch,
        )
    card = ModelCard(
        architecture=config.model,
        num_classes=train_set.num_classes,
        input_shape=train_set.input_shape,
        mean=mean,
        std=std,
        method=config.method,
        noise=noise.describe(),
        dataset={"name": train_set.name, "digest": train_set.digest},
        training=config.model_dump(),
        metrics={
            "loss": last.loss,
            "holdout_noisy_accuracy": last.holdout_noisy_accuracy,
            "seconds": last.seconds,
        },
        class_names=train_set.class_names,
    )
    return save_checkpoint(model, card, out)


@contextlib.contextmanager
def _own_torch_state(seed: int) -> Iterator[None]:
    """Give torch's global generator (first weights, dropout) a keyed state, and one thread, for a while.

    One thread, because sums in a backward pass are split by threads and the weights would depend on the
    machine's number of cores.
    """
    threads = torch.get_num_threads()
    with _TORCH_STATE, torch.random.fork_rng(devices=[]):
        torch.random.set_rng_state(generator_for(seed, 0, "train-init").get_state())
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _finished(out: Path, config: TrainConfig, train_set: Dataset) -> ModelCard:
    """Return the card of a finished training if it is the one asked for; name the differences if not."""
    _, card = load_checkpoint(out)
    asked = config.model_dump(exclude={"data_dir"})  # where the files lie changes nothing; their digest would
    if asked["seed"] is None:
        del asked["seed"]
    differing = [name for name, value in asked.items() if card.training.get(name) != value]
    if card.dataset["digest"] != train_set.digest:
        differing.append("dataset digest")
    if differing:
        raise CheckpointError(
            f"{out} already holds a model trained with another {', '.join(differing)}; "
            f"choose another folder or remove it"
        )
    return card
