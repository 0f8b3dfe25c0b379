"""One training per value of a setting, certified alike and side by side: what the setting does, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from torch import nn

from smoothcert.amounts import amount
from smoothcert.certificates import Procedure, load_classifier
from smoothcert.data import Dataset
from smoothcert.engines import single_threaded_torch
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import ModelCard, load_checkpoint
from smoothcert.networks import forward_flops, multi_head_of
from smoothcert.noise import noise_from
from smoothcert.report import Summary, SweepRow
from smoothcert.seeding import generator_for
from smoothcert.training import TrainConfig, head_accuracies, holdout_copies
from smoothcert.workflows.certify import certify
from smoothcert.workflows.training_process import train_in_process


def run_sweep(
    configs: Mapping[str, TrainConfig],
    out: Path,
    *,
    over: str,
    procedure: Procedure,
    images: Dataset,
    indices: Sequence[int],
    alpha: float = 0.001,
    workers: int | None = None,
    say: Callable[[str], None],
) -> list[SweepRow]:
    """Train every configuration, certify the same images with each, and return a row per value.

    Not a choice of the best: test images must not choose. What is already in `out` is used again, so a sweep that
    was stopped continues, and one more value costs one more training.

    Args:
        configs: by value of the setting, as it was given.
        out: folder to write to: models/ and runs/, a folder per value in each.
        over: name of the setting.
        procedure: how to spend votes.
        images: the split to certify.
        indices: its images to certify.
        alpha: error probability per image, one-sided.
        workers: threads that certify; one per core by default.
        say: told in one line what is being done.
    """
    for config in configs.values():
        if config.factory is not None:
            raise InvalidArgumentError(
                f"a sweep runs no code, and model {config.model!r} is some; train and certify each value by itself"
            )
    names = _folder_names(over, list(configs))
    rows = []
    for number, (value, config) in enumerate(configs.items(), start=1):
        folder = out / "models" / names[value]
        say(f"{over}={value} ({number} of {len(configs)}): training")
        train_in_process(config, folder, resume=True, show_progress=True)
        say(f"{over}={value} ({number} of {len(configs)}): certifying {amount(len(indices), 'image')}")
        run = certify(
            load_classifier(folder),
            images,
            procedure=procedure,
            alpha=alpha,
            indices=indices,
            workers=workers,
            out=out / "runs" / names[value],
            resume=True,
            show_progress=True,
        )
        rows.append(_row(value, config, folder, Summary.of_run(run, value), images))
    return rows


def _row(value: str, config: TrainConfig, folder: Path, summary: Summary, images: Dataset) -> SweepRow:
    """Read off the model what the run does not say."""
    model, card = load_checkpoint(folder)
    return SweepRow(
        value=value,
        summary=summary,
        heads=card.heads or 1,
        head_accuracy=_head_accuracy(model, card, config),
        accuracy=card.metrics.get("holdout_noisy_accuracy"),
        multiply_adds=forward_flops(model, images.image(int(summary.results.index[0]))) // 2,
        parameters=sum(weights.numel() for weights in model.parameters()),
        training_seconds=card.metrics["seconds"],
        epochs=config.epochs,
        memory_mb=card.metrics["peak_memory_mb"],
    )


def _head_accuracy(model: nn.Module, card: ModelCard, config: TrainConfig) -> tuple[float, ...]:
    """Measure each head on the noise that the training measured the model on."""
    holdout, network = config.holdout_images(), multi_head_of(model)
    if network is None or holdout is None:
        return ()
    seed = card.training["seed"]
    assert isinstance(seed, int)
    with single_threaded_torch():  # on a busy core, two threads are ten times slower
        return head_accuracies(
            network,
            holdout,
            noise_from(dict(card.noise)),
            draws=holdout_copies(len(holdout)),
            generator=generator_for(seed, 0, "holdout-noise"),
        )


def _folder_names(over: str, values: Sequence[str]) -> dict[str, str]:
    """Return a folder name per value; refuse values that could not be told apart."""
    names = {value: f"{over}-{re.sub(r'[^A-Za-z0-9._%+-]', '_', value)}" for value in values}
    if len(set(names.values())) < len(values):
        raise InvalidArgumentError(
            f"the values of {over} need folder names of their own, got {', '.join(values)}"
        )
    return names
