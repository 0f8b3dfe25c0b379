"""How a training is launched: one process or several, errors back to the caller, torch's global state borrowed."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from lightning_fabric import Fabric
from torch import nn

from smoothcert.arguments import usable_cores
from smoothcert.data import Dataset
from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError
from smoothcert.folders import CARD_FILE, ModelCard, read_card
from smoothcert.seeding import check_seed, generator_for
from smoothcert.training.config import TrainConfig
from smoothcert.training.epochs import OnEpoch, fit, forget
from smoothcert.training.first_model import first_model
from smoothcert.training.folder_lock import only_training_in
from smoothcert.training.loop import chosen_images, steps_per_epoch
from smoothcert.training.starting_points import PLACES
from smoothcert.training.state import TrainingState, read_header
from smoothcert.training.state_header import STATE_FILE, damage

_TORCH_STATE = threading.Lock()  # of torch's global generator, which only one training at a time may borrow

Card = TypeVar("Card")


@dataclass(frozen=True)
class Trained:
    """A training that has ended, for whoever writes its folder.

    Args:
        config: its configuration, seed and digests included.
        model: with the weights of the last epoch, on the CPU.
        state: metrics of all epochs, and the best epoch's weights where there is a hold-out.
        train_set: images it was trained on, or chose among (`max_train_images`).
        processes: processes that shared its steps.
    """

    config: TrainConfig
    model: nn.Module
    state: TrainingState
    train_set: Dataset
    processes: int


@dataclass(frozen=True)
class Where:
    """On what a training runs, and who is told; nothing here changes the weights but the number of processes."""

    on_epoch: OnEpoch | None = None
    devices: int = 1
    accelerator: str = "auto"
    show_progress: bool | None = False


def launch(
    config: TrainConfig,
    train_set: Dataset,
    out: Path,
    where: Where,
    write: Callable[[Trained, Path], Card],
    results: Sequence[Path],
) -> Card:
    """Run a training in its processes, and let the first one write its folder; returns what `write` returned.

    Args:
        config: what to do; a missing seed is drawn, or taken from the unfinished training in `out`.
        train_set: images to train on.
        out: folder of the state and of what is written.
        where: on what it runs.
        write: writes the folder; a function of a module, because processes may be handed it.
        results: model folders that `write` replaces; refused beforehand if they hold models of another training.
    """
    holdout_set = config.holdout_images()
    fabric = _fabric(config, where.devices, where.accelerator)
    steps_per_epoch(config, len(chosen_images(len(train_set), config.max_train_images)), where.devices)
    with only_training_in(out):
        if config.seed is None:
            unfinished = (out / STATE_FILE).exists()
            config = config.changed(seed=_seed_of(out) if unfinished else check_seed(None))
        for folder in results:
            _refuse_foreign(folder, config)
        work: Any = _work  # the annotation of launch leaves out the arguments that it passes on
        outcome = fabric.launch(work, config, train_set, holdout_set, out, where, write)
    if isinstance(outcome, BaseException):
        raise outcome
    card: Card = outcome
    return card


def _seed_of(out: Path) -> int:
    """Return the seed of the unfinished training in a folder."""
    seed = read_header(out).config.get("seed")
    if not isinstance(seed, int):
        raise damage(out, "it names no seed")
    return check_seed(seed)


def _fabric(config: TrainConfig, devices: int, accelerator: str) -> Fabric:
    """Return the devices, not launched yet."""
    if accelerator == "auto":
        accelerator = "cuda" if torch.cuda.is_available() else "cpu"
    if accelerator not in ("cpu", "cuda"):
        raise InvalidArgumentError(f'accelerator must be "auto", "cpu" or "cuda", got {accelerator!r}')
    if accelerator == "cuda" and not torch.cuda.is_available():
        raise InvalidArgumentError('accelerator "cuda" asked for, but torch sees no GPU; use "cpu"')
    most = torch.cuda.device_count() if accelerator == "cuda" else max(2, usable_cores())
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
    holdout_set: Dataset | None,
    out: Path,
    where: Where,
    write: Callable[[Trained, Path], Any],
) -> Any:
    """Train in one process of several; errors of ours go back as values, to be raised by the caller."""
    if fabric.world_size > 1:
        die_with_parent()
        torch.set_num_threads(1)  # for good: the threads of its parent are not in a forked process
    try:
        seed = check_seed(config.seed)
        with _own_torch_state(seed):
            model = first_model(config, train_set)
            state = fit(
                model,
                train_set,
                holdout_set,
                config=config,
                seed=seed,
                fabric=fabric,
                folder=out,
                on_epoch=where.on_epoch,
                show_progress=where.show_progress,
            )
        if fabric.global_rank > 0:  # the first process alone measures and writes
            return None
        card = write(Trained(config, model.cpu(), state, train_set, fabric.world_size), out)
        forget(out)
        return card
    except SmoothcertError as error:
        return error


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


def _refuse_foreign(folder: Path, config: TrainConfig) -> None:
    """Refuse a folder that holds a model of another training: it would be replaced by this one's."""
    if (folder / CARD_FILE).exists() and differences(folder, read_card(folder), config):
        raise CheckpointError(
            f"{folder} holds a model of another training; choose another folder or remove it"
        )


def differences(folder: Path, card: ModelCard, config: TrainConfig) -> list[str]:
    """Return the settings of a finished training that differ from a configuration; a seed left out fits any.

    Args:
        folder: of the model, for messages.
        card: its card.
        config: the configuration asked for.
    """
    try:
        known = TrainConfig(**card.training).model_dump(exclude=set(PLACES))
    except SmoothcertError as error:
        raise CheckpointError(
            f"the training that the card in {folder} tells of is none: {error}; restore the card"
        ) from error
    asked = config.model_dump(exclude=set(PLACES))  # where files lie changes nothing; their digests would
    if asked["seed"] is None:
        del asked["seed"], known["seed"]
    return [name for name in {**known, **asked} if known.get(name) != asked.get(name)]


def die_with_parent() -> None:
    """Ask the system to end this process with its parent, so that a killed training leaves no workers behind."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG
