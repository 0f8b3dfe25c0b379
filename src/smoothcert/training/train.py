"""Training from a configuration to a model folder."""

from __future__ import annotations

import contextlib
import copy
import logging
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from smoothcert.data import DATASETS, Dataset, load_dataset
from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError
from smoothcert.models import ModelCard, create_model, load_checkpoint, save_checkpoint
from smoothcert.models.checkpoint import CARD_FILE, read_card
from smoothcert.sampling import default_workers
from smoothcert.seeding import check_seed, generator_for
from smoothcert.training.config import TrainConfig
from smoothcert.training.course import OnEpoch, fit, forget
from smoothcert.training.folder_lock import only_training_in
from smoothcert.training.loop import chosen_images, steps_per_epoch
from smoothcert.training.state import STATE_FILE, TrainingState, read_header

BEST = "best"
"""Subfolder with the model of the epoch that did best on the hold-out; the folder itself holds the last."""
_TORCH_STATE = threading.Lock()  # of torch's global generator, which only one training at a time may borrow


def train(
    config: TrainConfig | Mapping[str, Any] | str | Path,
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
        config: a configuration, its settings as a mapping, the name of a recipe or the path of one (its first row;
            `load_recipe(name).config(sigma=.., epochs=..)` gives others).
        out: folder to write the model to; while training it holds `training.safetensors`.
        on_epoch: called with the metrics after every epoch; with several devices in a process of its own, so what it
            changes is not seen here.
        devices: processes, each on a device of its own (on the CPU: on a core).
        accelerator: "auto" (a GPU where there is one), "cpu" or "cuda".
        show_progress: True shows progress, None only on a terminal.
    """
    config = _config(config)
    out = Path(out)
    if out.exists() and not out.is_dir():
        raise CheckpointError(f"{out} is a file; choose a folder to write the model to")
    train_set = load_dataset(config.dataset, "train", config.data_dir)
    if (out / CARD_FILE).exists():
        return _finished(out, config, train_set)
    holdout_set = load_dataset(config.dataset, "holdout", config.data_dir)
    fabric = _fabric(config, devices, accelerator)
    steps_per_epoch(config, len(chosen_images(len(train_set), config.max_train_images)), devices)
    with only_training_in(out):
        if config.seed is None:
            unfinished = (out / STATE_FILE).exists()
            config = config.changed(
                seed=read_header(out)["config"]["seed"] if unfinished else check_seed(None)
            )
        _refuse_foreign_best(out, config)
        work: Any = _work  # the annotation of launch leaves out the arguments that it passes on
        outcome = fabric.launch(work, config, train_set, holdout_set, out, on_epoch, show_progress)
    if isinstance(outcome, BaseException):
        raise outcome
    assert isinstance(outcome, ModelCard)
    return outcome


def _config(given: TrainConfig | Mapping[str, Any] | str | Path) -> TrainConfig:
    if isinstance(given, TrainConfig):
        return given
    if isinstance(given, str | Path):
        from smoothcert.training.recipe import load_recipe

        return load_recipe(str(given)).config()
    return TrainConfig(**given)


def _fabric(config: TrainConfig, devices: int, accelerator: str) -> Fabric:
    """Return the devices, not launched yet."""
    if accelerator == "auto":
        accelerator = "cuda" if torch.cuda.is_available() else "cpu"
    if accelerator not in ("cpu", "cuda"):
        raise InvalidArgumentError(f'accelerator must be "auto", "cpu" or "cuda", got {accelerator!r}')
    if accelerator == "cuda" and not torch.cuda.is_available():
        raise InvalidArgumentError('accelerator "cuda" asked for, but torch sees no GPU; use "cpu"')
    most = torch.cuda.device_count() if accelerator == "cuda" else max(2, default_workers())
    if isinstance(devices, bool) or not isinstance(devices, int) or not 1 <= devices <= most:
        raise InvalidArgumentError(
            f"devices must be an integer from 1 to {most} on this machine, got {devices!r}"
        )
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
    if fabric.world_size > 1:
        _die_with_parent()
        torch.set_num_threads(1)  # for good: the threads of its parent are not in a forked process
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
            heads=config.heads,
            split=config.split,
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
    shutil.rmtree(out / BEST, ignore_errors=True)  # of this same training, killed between here and the end
    best = copy.deepcopy(model).cpu()
    best.load_state_dict(state.best)
    save_checkpoint(best, _card(config, state, train_set, state.best_epoch, fabric.world_size), out / BEST)
    card = save_checkpoint(
        model.cpu(), _card(config, state, train_set, config.epochs, fabric.world_size), out
    )
    forget(out)
    return card


def _card(
    config: TrainConfig, state: TrainingState, train_set: Dataset, epoch: int, processes: int
) -> ModelCard:
    """Describe the model as it was after some epoch."""
    source = DATASETS[config.dataset]
    then = state.metrics[epoch - 1]
    metrics: dict[str, float] = {
        "epoch": epoch,
        "loss": then.loss,
        "holdout_noisy_accuracy": then.holdout_noisy_accuracy,
        "seconds": then.seconds,
        "peak_memory_mb": then.peak_memory_mb,
        "processes": processes,  # each normalises batches by its own rows, so the weights depend on it
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
        heads=config.heads,
        split=config.split,
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


def _refuse_foreign_best(out: Path, config: TrainConfig) -> None:
    """Refuse a folder whose best model is of another training: it would be replaced by this one's."""
    if (out / BEST / CARD_FILE).exists():
        found = read_card(out / BEST).training
        if found != {**config.model_dump(mode="json"), "data_dir": found.get("data_dir")}:
            raise CheckpointError(
                f"{out / BEST} holds a model of another training; choose another folder or remove it"
            )


def _die_with_parent() -> None:
    """Ask the system to end this process with its parent, so that a killed training leaves no workers behind."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


def _finished(out: Path, config: TrainConfig, train_set: Dataset) -> ModelCard:
    """Return the card of a finished training if it is the one asked for; name the differences if not."""
    _, card = load_checkpoint(out)
    known = TrainConfig(**card.training).model_dump()
    asked = config.model_dump(exclude={"data_dir"})  # where the files lie changes nothing; their digest would
    if asked["seed"] is None:
        del asked["seed"]
    names = {**asked, **dict.fromkeys(("heads", "split"))}  # left out where not set
    differing = [name for name in names if known.get(name) != asked.get(name)]
    if card.dataset["digest"] != train_set.digest:
        differing.append("dataset digest")
    if differing:
        raise CheckpointError(
            f"{out} already holds a model trained with another {', '.join(differing)}; "
            f"choose another folder or remove it"
        )
    forget(out)
    return card
