"""Folders of models, tied to runs by the digest of the weights, and what their cards say about the training."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from smoothcert.errors import InvalidArgumentError, SmoothcertError
from smoothcert.folders import (
    EnsembleCard,
    ModelCard,
    is_ensemble,
    read_any_card,
    read_card,
    refuse_labyrinth,
)
from smoothcert.report.summary import Summary


@dataclass(frozen=True)
class ModelFolder:
    """A folder of a model or an ensemble, of which the cards have been read; no weights.

    Not proof of how it was trained: a card says what its writer wrote.

    Args:
        path: the folder, as it was given.
        card: of the folder itself.
        networks: cards of the trained networks in it, each folder once.
    """

    path: Path
    card: ModelCard | EnsembleCard
    networks: tuple[ModelCard, ...]

    @property
    def heads(self) -> int | None:
        """Heads that vote, of each network; None where networks differ in it."""
        if isinstance(self.card, EnsembleCard) and self.card.heads is not None:
            return len(self.card.heads)
        each = {network.heads or 1 for network in self.networks}
        return each.pop() if len(each) == 1 else None

    @cached_property
    def trainings(self) -> tuple[ModelCard, ...]:
        """One card of each training: members that were trained together share one."""
        seen: dict[Any, ModelCard] = {}
        for number, card in enumerate(self.networks):
            together = card.training.get("members")
            key = number if together is None else (str(card.training), card.metrics.get("seconds"))
            seen.setdefault(key, card)
        return tuple(seen.values())

    @property
    def seconds(self) -> float | None:
        """Training time of all its networks, one after the other, in seconds; None where a card does not tell.

        What went before a fine-tuning is not in it.
        """
        return _total(card.metrics.get("seconds") for card in self.trainings)

    @property
    def seconds_per_epoch(self) -> float | None:
        """Time of one epoch of every training, added up, in seconds; None where a card does not tell."""
        return _total(_per_epoch(card) for card in self.trainings)

    @property
    def peak_memory_mb(self) -> float | None:
        """Largest memory that a training of its networks took, in MB; None where a card does not tell."""
        each = [card.metrics.get("peak_memory_mb") for card in self.trainings]
        known = [one for one in each if one is not None]
        return max(known) if known and len(known) == len(each) else None

    @property
    def is_fine_tuned(self) -> bool:
        """Whether a training started from trained networks, whose own training is not counted."""
        return any(card.training.get("members") is not None for card in self.networks)

    @property
    def method(self) -> str:
        """Training methods and architectures of its networks, each once."""
        return ", ".join(dict.fromkeys(f"{card.method} {card.architecture}" for card in self.networks))


def read_folders(paths: Sequence[str | Path]) -> dict[str, ModelFolder]:
    """Read the cards of folders; return them by the digest of their weights, in the order given.

    Args:
        paths: folders of models or ensembles; one that is given twice counts once.
    """
    found: dict[str, ModelFolder] = {}
    for path in map(Path, paths):
        if is_ensemble(path):
            refuse_labyrinth(path)
        card = read_any_card(path)
        networks = dict(_networks(path))
        found.setdefault(card.digest, ModelFolder(path, card, tuple(networks.values())))
    return found


def find_folders(paths: Sequence[str | Path], summaries: Sequence[Summary]) -> dict[str, ModelFolder]:
    """Read the cards of folders that are given, and of those where runs say that their models were.

    Not by a run's word alone: what stands there counts only if its digest is the run's.

    Args:
        paths: folders of models or ensembles.
        summaries: runs, whose own notes of places are followed where no folder is given.
    """
    found = read_folders(paths)
    for one in summaries:
        place = None if one.run is None else one.run.places.get("model")
        if place is None or folder_of(one, found) is not None:
            continue
        try:
            noted = read_folders([place])
        except SmoothcertError:  # moved, or no folder of ours
            continue
        if folder_of(one, noted) is not None:
            found |= noted
    return found


def folder_of(summary: Summary, folders: Mapping[str, ModelFolder]) -> ModelFolder | None:
    """Return the folder of the model that a run is about; None for a log, or where it was not given."""
    return folders.get(str(summary.manifest.get("model", "")).partition("/")[0])


def _networks(home: Path) -> Iterator[tuple[str, ModelCard]]:
    """Yield place and card of every trained network below a folder; refuse members that were exchanged."""
    card = read_any_card(home)
    if isinstance(card, EnsembleCard):
        for member in card.members:
            digest = read_any_card(home / member.path).digest
            if digest != member.digest:
                raise InvalidArgumentError(
                    f"member {member.path} of {home} has changed: its digest is {digest}, expected {member.digest}; "
                    "make the ensemble again"
                )
            yield from _networks(home / member.path)
        return
    yield os.path.realpath(home), card
    if card.denoised is not None:
        behind = home / card.denoised.classifier
        yield os.path.realpath(behind), read_card(behind)


def _per_epoch(card: ModelCard) -> float | None:
    seconds, epochs = card.metrics.get("seconds"), card.metrics.get("epoch")
    return None if seconds is None or not epochs else seconds / epochs


def _total(values: Iterable[float | None]) -> float | None:
    each = list(values)
    known = [one for one in each if one is not None]
    return sum(known) if known and len(known) == len(each) else None
