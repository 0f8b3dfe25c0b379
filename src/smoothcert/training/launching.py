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

from smoothcert.arguments import check_whole, usable_cores
from smoothcert.data import Dataset
from smoothcert.engines import this_processor
from smoothcert.errors import InvalidArgumentError, SmoothcertError
from smoothcert.seeding import check_seed, generator_for
from smoothcert.training.batches import chosen_images, steps_per_epoch
from smoothcert.training.config import FLOAT32, TrainConfig
from smoothcert.training.epochs import OnEpoch, run_epochs
from smoothcert.training.materials import Materials
from smoothcert.training.outputs.folder import forget, only_training_in, refuse_foreign, with_seed
from smoothcert.training.outputs.state import TrainingState

_log = logging.getLogger("smoothcert")

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
    show_progress: bool | None = None


def launch(
    config: TrainConfig,
    materials: Materials,
    out: Path | None,
    where: Where,
    write: Callable[[Trained, Path | None], Card],
    results: Sequence[Path],
) -> Card:
    """Run a training in its processes, and let the first one write its folder; returns what `write` returned.

    Args:
        config: what to do; a missing seed is drawn, or taken from the unfinished training in `out`.
        materials: images, and what makes the first model.
        out: folder of the state and of what is written; None keeps nothing.
        where: on what it runs.
        write: writes the folder; a function of a module, because processes may be handed it.
        results: model folders that `write` replaces; refused beforehand if they hold models of another training.
    """
    fabric = _fabric(config, where.devices, where.accelerator)
    steps_per_epoch(
        config, len(chosen_images(len(materials.train_set), config.max_train_images)), where.devices
    )
    with contextlib.nullcontext() if out is None else only_training_in(out):
        config = with_seed(config, out)
        for folder in results:
            refuse_foreign(folder, config)
        work: Any = _work  # the annotation of launch leaves out the arguments that it passes on
        outcome = fabric.launch(work, config, materials, out, where, write)
    if isinstance(outcome, BaseException):
        raise outcome
    card: Card = outcome
    return card


def _fabric(config: TrainConfig, devices: int, accelerator: str) -> Fabric:
    """Return the devices, not launched yet."""
    if accelerator == "auto":
        accelerator = "cuda" if torch.cuda.is_available() else "cpu"
    if accelerator not in ("cpu", "cuda"):
        raise InvalidArgumentError(f'accelerator must be "auto", "cpu" or "cuda", got {accelerator!r}')
    if accelerator == "cuda" and not torch.cuda.is_available():
        raise InvalidArgumentError('accelerator "cuda" asked for, but torch sees no GPU; use "cpu"')
    most = torch.cuda.device_count() if accelerator == "cuda" else max(2, usable_cores())
    check_whole("devices", devices, 1, most, what=f"an integer from 1 to {most} on this machine")
    if accelerator == "cpu":
        warn_of_emulation(config.precision)
    # Forked processes share the images in memory; a GPU's driver does not survive a fork.
    logging.getLogger("lightning_fabric").setLevel(logging.ERROR)  # its chatter about processes is not ours
    strategy = "auto" if devices == 1 else ("ddp_fork" if accelerator == "cpu" else "ddp_spawn")
    return Fabric(accelerator=accelerator, devices=devices, strategy=strategy, precision=config.precision)


def is_emulated(precision: str) -> bool:
    """Return whether this processor would imitate the precision of a training, which takes longer than float32.

    Args:
        precision: of a training on the CPU.
    """
    return precision != FLOAT32 and this_processor().bfloat16 is False


def warn_of_emulation(precision: str) -> None:
    """Say that bfloat16 is asked of a processor that has no instructions for it; the training is right, and slow.

    Args:
        precision: of a training on the CPU.
    """
    if is_emulated(precision):
        _log.warning(
            "precision %s: this processor has no bfloat16 instructions, so torch imitates them, which takes longer "
            "than %s; train in %s here, or on a processor with avx512_bf16, amx_bf16 or Arm's bf16",
            precision,
            FLOAT32,
            FLOAT32,
        )


def _work(
    fabric: Fabric,
    config: TrainConfig,
    materials: Materials,
    out: Path | None,
    where: Where,
    write: Callable[[Trained, Path | None], Any],
) -> Any:
    """Train in one process of several; errors of ours go back as values, to be raised by the caller."""
    if fabric.world_size > 1:
        die_with_parent()
        torch.set_num_threads(1)  # for good: the threads of its parent are not in a forked process
    try:
        seed = check_seed(config.seed)
        with _own_torch_state(seed):
            model = materials.first_model(config, materials.train_set)
            state = run_epochs(
                model,
                materials,
                config=config,
                seed=seed,
                fabric=fabric,
                folder=out,
                on_epoch=where.on_epoch,
                show_progress=where.show_progress,
            )
        if fabric.global_rank > 0:  # the first process alone measures and writes
            return None
        card = write(Trained(config, model.cpu(), state, materials.train_set, fabric.world_size), out)
        if out is not None:
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


def die_with_parent() -> None:
    """Ask the system to end this process with its parent, so that a killed training leaves no workers behind."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG
