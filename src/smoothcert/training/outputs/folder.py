"""The folder that a training writes to: one training at a time, and never over the results of another one."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from smoothcert.errors import CheckpointError, SmoothcertError
from smoothcert.folders import CARD_FILE, ModelCard, read_card
from smoothcert.locking import only_one_in
from smoothcert.seeding import check_seed
from smoothcert.training.config import TrainConfig
from smoothcert.training.outputs.state import read_header
from smoothcert.training.outputs.state_header import STATE_FILE, damage

PLACES = frozenset({"data_dir", "members", "classifier", "start"})
"""Settings that say where files lie: their content decides the weights and is held by digests, so they may change."""


def only_training_in(folder: Path) -> AbstractContextManager[None]:
    """Hold a folder for this training, made if missing; refuse it while another one, or a worker of it, is at work."""
    return only_one_in(folder, ".training.lock", "training", CheckpointError, with_children=True)


def refuse_existing(out: Path, result: Path) -> None:
    """Refuse a folder in which a training was done or begun: only `resume` goes on there.

    Args:
        out: folder of the training.
        result: file in it that is there once the training is done.
    """
    what = "a trained model" if result.exists() else "an unfinished training" if _is_unfinished(out) else None
    if what is not None:
        raise CheckpointError(
            f"{out} already holds {what}; go on from it with resume=True or choose another folder"
        )


def refuse_foreign(folder: Path, config: TrainConfig) -> None:
    """Refuse a folder that holds a model of another training: it would be replaced by this one's."""
    if (folder / CARD_FILE).exists() and differences(folder, read_card(folder), config):
        raise CheckpointError(
            f"{folder} holds a model of another training; choose another folder or remove it"
        )


def with_seed(config: TrainConfig, out: Path | None) -> TrainConfig:
    """Return the configuration with a seed: its own, else that of the unfinished training in `out`, else a new one."""
    if config.seed is not None:
        return config
    if out is None or not _is_unfinished(out):
        return config.changed(seed=check_seed(None))
    seed = read_header(out).config.get("seed")
    if not isinstance(seed, int):
        raise damage(out, "it names no seed")
    return config.changed(seed=check_seed(seed))


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
    known, asked = by_name(known), by_name(asked)
    return [name for name in {**known, **asked} if known.get(name) != asked.get(name)]


def by_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those of the user's own module and images among them, so that each is told apart."""
    own = settings.get("own")
    return {**settings, **own, "own": None} if isinstance(own, dict) else dict(settings)


def forget(folder: Path) -> None:
    """Remove the state of a training that is finished, and what kills left half-written."""
    for path in (folder / STATE_FILE, *folder.glob(".*.part")):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _is_unfinished(out: Path) -> bool:
    return (out / STATE_FILE).exists()
