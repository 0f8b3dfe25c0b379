"""Training from a configuration to a model folder."""

from __future__ import annotations

import contextlib
import copy
import logging
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from smoothcert.data import DATASETS, Dataset, load_dataset
from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError
from smoothcert.models import ModelCard, create_model, load_checkpoint, save_checkpoint
from smoothcert.models.checkpoint import CARD_FILE
from smoothcert.seeding import check_seed, generator_for
from smoothcert.training.config import TrainConfig
from smoothcert.training.course import OnEpoch, fit, forget
from smoothcert.training.state import STATE_FILE, TrainingState, saved_seed

BEST = "best"
"""Subfolder with the model of the epoch that did best on the hold-out; the folder itself holds the last."""
_TORCH_STATE = threading.Lock()  # of torch's global generator, which only one training at a time may borrow


def train(
    config: TrainConfig | Mapping[str, Any] | str,
    out: str | Path,
    *,
    on_epoch: OnEpoch | None = None,
    devices: int = 1,
    accelerator: str = "auto",
    show_progress: bool | None = False,
) -> ModelCard:
    """Train a model and write its folder; the same seed gives the same weights, bit for bit, on one CPU process.

    Not a second training where one is done: a folder with a model of the same configuration is returned as it
    is, and a training that was stopped continues where its last epoch ended. Trainings in threads of one process
    take turns.

    Args:
        config: a configuration, its settings as a mapping, or the name of a recipe.
        out: folder to write the model to; while training it holds `training.safetensors`.
        on_epoch: called with the metrics after every epoch, in the first process.
        devices: processes, each on a device of its own (on the CPU: on a core).
        accelerator: "auto" (a GPU where there is one), "cpu" or "cuda".
        show_progress: True shows progress, None only on a terminal.
    """
    config = _config(config)
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise CheckpointError(f"{out} is a file; choose a folder to write the model to")
    if isinstance(devices, bool) or not isinstance(devices, int) or devices < 1:
        raise InvalidArgumentError(f"devices must be a positive integer, got {devices!r}")
    train_set = load_dataset(config.dataset, "train", config.data_dir)
    if (out / CARD_FILE).exists():
        return _finished(out, config, train_set)
    holdout_set = load_dataset(config.dataset, "holdout", config.data_dir)
    if config.seed is None:
        unfinished = (out / STATE_FILE).exists()
        config = config.changed(seed=saved_seed(out) if unfinished else check_seed(None))
    fabric = _fabric(config, devices, accelerator)
    work: Any = _work  # the annotation of launch leaves out the arguments that it passes on
    outcome = fabric.launch(work, config, train_set, holdout_set, out, on_epoch, show_progress)
    if isinstance(outcome, BaseException):
        raise outcome
    assert isinstance(outcome, ModelCard)
    return outcome


def _config(given: TrainConfig | Mapping[str, Any] | str) -> TrainConfig:
    if isinstance(given, TrainConfig):
        return given
    if isinstance(given, str):
        from smoothcert.training.recipe import load_recipe

        return load_recipe(given).config()
    return TrainConfig(**given)


def _fabric(config: TrainConfig, devices: int, accelerator: str) -> Fabric:
    """Return the devices, not launched yet."""
    if accelerator == "auto":
        accelerator = "cuda" if torch.cuda.is_available() else "cpu"
    if accelerator not in ("cpu", "cuda"):
        raise InvalidArgumentError(f'accelerator must be "auto", "cpu" or "cuda", got {accelerator!r}')
    if accelerator == "cuda" and not torch.cuda.is_available():
        raise InvalidArgumentError('accelerator "cuda" asked for, but torch sees no GPU; use "cpu"')
    # Forked processes share the images in memory; a GPU's driver does not survive a fork.
    logging.getLogger("lightning_fabric").setLevel(logging.ERROR)  # its chatter about processes is not ours
    strategy = "auto" if devices == 1 else ("ddp_fork" if accelerator == "cpu" else "ddp_spawn")
    return Fabric(accelerator=accelerator, devices=devices, strategy=strategy, precision=config.precision)


def _work(
    fabric: Fabric,
    config: TrainConfig,
    train_set: Dataset,
    holdout_set: Dataset,
    out: Path,
    on_epoch: OnEpoch | None,
    show_progress: bool | None,
) -> ModelCard | SmoothcertError | None:
    """Train in one process of several; errors of ours go back as values, to be raised by the caller."""
    try:
        return _trained(fabric, config, train_set, holdout_set, out, on_epoch, show_progress)
    except SmoothcertError as error:
        return error


def _trained(
    fabric: Fabric,
    config: TrainConfig,
    train_set: Dataset,
    holdout_set: Dataset,
    out: Path,
    on_epoch: OnEpoch | None,
    show_progress: bool | None,
) -> ModelCard | None:
    seed = check_seed(config.seed)
    source = DATASETS[config.dataset]
    with _own_torch_state(seed):
        model = create_model(
            config.model,
            num_classes=train_set.num_classes,
            input_shape=train_set.input_shape,
            mean=source.mean,
            std=source.std,
        )
        state = fit(
            model,
            train_set,
            holdout_set,
            config=config,
            seed=seed,
            fabric=fabric,
            folder=out,
            on_epoch=on_epoch,
            show_progress=show_progress,
        )
    if fabric.global_rank > 0:  # the first process alone measures and writes
        return None
    if not (out / BEST / CARD_FILE).exists():
        best = copy.deepcopy(model).cpu()
        best.load_state_dict(state.best)
        save_checkpoint(best, _card(config, state, train_set, state.best_epoch), out / BEST)
    card = save_checkpoint(model.cpu(), _card(config, state, train_set, config.epochs), out)
    forget(out)
    return card


def _card(config: TrainConfig, state: TrainingState, train_set: Dataset, epoch: int) -> ModelCard:
    """Describe the model as it was after some epoch."""
    source = DATASETS[config.dataset]
    then = state.metrics[epoch - 1]
    metrics: dict[str, float] = {
        "epoch": epoch,
        "loss": then.loss,
        "holdout_noisy_accuracy": then.holdout_noisy_accuracy,
        "seconds": then.seconds,
        "peak_memory_mb": then.peak_memory_mb,
    }
    if then.holdout_acr is not None:
        metrics["holdout_acr"] = then.holdout_acr
    return ModelCard(
        architecture=config.model,
        num_classes=train_set.num_classes,
        input_shape=train_set.input_shape,
        mean=source.mean,
        std=source.std,
        method=config.method,
        noise=config.noise_law().describe(),
        dataset={"name": train_set.name, "digest": train_set.digest},
        training=config.model_dump(mode="json"),
        metrics=metrics,
        class_names=train_set.class_names,
    )


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
    known = TrainConfig(**card.training).model_dump()
    asked = config.model_dump(exclude={"data_dir"})  # where the files lie changes nothing; their digest would
    if asked["seed"] is None:
        del asked["seed"]
    differing = [name for name, value in asked.items() if known[name] != value]
    if card.dataset["digest"] != train_set.digest:
        differing.append("dataset digest")
    if differing:
        raise CheckpointError(
            f"{out} already holds a model trained with another {', '.join(differing)}; "
            f"choose another folder or remove it"
        )
    return card
