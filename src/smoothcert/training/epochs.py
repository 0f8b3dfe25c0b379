"""The epochs of one training, measurements after each, and a state that survives a crash."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from lightning_fabric import Fabric
from torch import nn

from smoothcert.errors import CheckpointError, WorkerError
from smoothcert.folders import LEFT_OUT
from smoothcert.progress import Progress, progress
from smoothcert.training.config import TrainConfig
from smoothcert.training.loop import EpochResult, Loop, make_optimizer
from smoothcert.training.materials import Materials
from smoothcert.training.measuring import measured
from smoothcert.training.outputs.folder import PLACES, by_name
from smoothcert.training.outputs.metrics import EpochMetrics, peak_memory_mb, write_metrics
from smoothcert.training.outputs.state import TrainingState, read_header
from smoothcert.training.outputs.state_header import STATE_FILE

OnEpoch = Callable[[EpochMetrics], None]


def run_epochs(
    model: nn.Module,
    materials: Materials,
    *,
    config: TrainConfig,
    seed: int,
    fabric: Fabric | None = None,
    folder: Path | None = None,
    on_epoch: OnEpoch | None = None,
    show_progress: bool | None = False,
) -> TrainingState:
    """Train `model` in place, leave it in eval mode and return the state at the end.

    Not a search: a hold-out is measured, never trained on; which epoch did best on it is recorded, and the model
    is left with the weights of the last.

    Args:
        model: the network, with its first weights.
        materials: images to train on, and to measure on; without the latter no epoch is the best.
        config: method, noise, schedule and optimiser.
        seed: of order, augmentation and noise.
        fabric: launched; one process on the CPU by default.
        folder: where the state is kept, and read again after a crash; None keeps none.
        on_epoch: called with the metrics after every epoch, by the first process.
        show_progress: True shows progress, None only on a terminal.
    """
    fabric = fabric or Fabric(accelerator="cpu", devices=1, precision=config.precision)
    # Convolutions are up to twice as fast with channels last; files and digests do not know the layout.
    model = _laid_out(model.to(fabric.device), torch.channels_last)
    optimizer = make_optimizer(model, config)
    state = TrainingState(config.model_dump(mode="json", exclude=set(PLACES)), materials.train_set.digest)
    if folder is not None and (folder / STATE_FILE).exists():
        state = _continued(folder, model, optimizer, state)
    first = fabric.global_rank == 0
    loop = Loop(fabric, model, optimizer, materials, config, seed)
    shown = show_progress if first else False
    with (
        torch.random.fork_rng(devices=[]),
        progress(f"training {config.model}", loop.steps, shown=shown) as show,
    ):
        for epoch in range(len(state.metrics), config.epochs):
            loop.on_step = lambda step, loss, epoch=epoch: show(
                step, f"epoch {epoch + 1} of {config.epochs}, loss {loss:.4f}"
            )
            done = loop.epoch(epoch)
            with _together(fabric):
                if first:
                    note = partial(_note, show, loop.steps_per_epoch * (epoch + 1), epoch + 1, config)
                    accuracy = radius = None
                    if materials.holdout_set is not None:
                        accuracy, radius = measured(
                            model, materials.holdout_set, epoch=epoch + 1, config=config, seed=seed, note=note
                        )
                    metrics = _metrics(done, epoch + 1, model, state, accuracy, radius)
                    _record(state, metrics, model)
                    if folder is not None:
                        write_metrics(state.metrics, folder)
                        state.save(folder, model, optimizer)
                    if on_epoch is not None:
                        on_epoch(metrics)
    _laid_out(model, torch.contiguous_format).eval()
    return state


def _laid_out(model: nn.Module, layout: torch.memory_format) -> nn.Module:
    """Return the model, the weights of its convolutions in that layout in memory."""
    changed: nn.Module = model.to(memory_format=layout)  # type: ignore[call-overload]  # torch's stubs lack it
    return changed


@contextlib.contextmanager
def _together(fabric: Fabric) -> Iterator[None]:
    """Let all processes leave together: an error of one ends the others too, instead of leaving them waiting."""
    failure: BaseException | None = None
    try:
        yield
    except BaseException as error:
        failure = error
    if fabric.world_size > 1:
        failed = torch.tensor(float(failure is not None), device=fabric.device)
        failed = fabric.all_reduce(failed, reduce_op="sum")  # type: ignore[assignment]
        if failure is None and float(failed) > 0:
            raise WorkerError("another process of this training failed; its error says why")
    if failure is not None:
        raise failure


def _continued(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, wanted: TrainingState
) -> TrainingState:
    """Load the state in `folder` if it is of the same training; name the differences if not."""
    header = read_header(folder)  # before the weights, which may not fit the model asked for
    then, now = by_name(header.config), by_name(wanted.config)
    names = {**now, **dict.fromkeys(set(LEFT_OUT) - PLACES)}
    differing = [name for name in names if then.get(name) != now.get(name)]
    if header.dataset_digest != wanted.dataset_digest:
        differing.append("dataset digest")
    if differing:
        raise CheckpointError(
            f"{folder} holds an unfinished training with another {', '.join(sorted(differing))}; choose another "
            "folder, remove it, or give the same settings to continue it"
        )
    return TrainingState.load(folder, model, optimizer)


def _metrics(
    done: EpochResult,
    epoch: int,
    model: nn.Module,
    state: TrainingState,
    accuracy: float | None,
    radius: float | None,
) -> EpochMetrics:
    """Put the figures of an epoch together."""
    before = state.metrics[-1].seconds if state.metrics else 0.0
    return EpochMetrics(
        epoch=epoch,
        loss=sum(done.parts.values()),
        holdout_noisy_accuracy=accuracy,
        seconds=before + done.seconds,
        lr=done.lr,
        images_per_second=done.images / max(done.seconds, 1e-9),
        peak_memory_mb=peak_memory_mb(next(model.parameters()).device),
        parts=done.parts,
        holdout_acr=radius,
    )


def _note(show: Progress, steps: int, epoch: int, config: TrainConfig, text: str) -> None:
    show(steps, f"epoch {epoch} of {config.epochs}, {text}")


def _record(state: TrainingState, metrics: EpochMetrics, model: nn.Module) -> None:
    """Enter an epoch; keep its weights if it did better on the hold-out than all before.

    Judged by certified radius where that is measured, else by accuracy under noise; the earlier one on ties. Without a
    hold-out none is the best.
    """

    def merit(one: EpochMetrics) -> tuple[float, float]:
        return (-1.0 if one.holdout_acr is None else one.holdout_acr, one.holdout_noisy_accuracy or 0.0)

    measured = metrics.holdout_noisy_accuracy is not None
    if measured and (not state.metrics or merit(metrics) > max(merit(one) for one in state.metrics)):
        state.best_epoch = metrics.epoch
        state.best = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
    state.metrics.append(metrics)
