"""Ensembles of ensembles: how many networks they come to, told from their cards before any is loaded."""

from __future__ import annotations

import os
from pathlib import Path

from smoothcert.errors import CheckpointError
from smoothcert.folders.ensemble_card import EnsembleCard
from smoothcert.folders.model_card import read_record
from smoothcert.folders.records import MOST_MEMBERS
from smoothcert.reading import kind_of

ENSEMBLE_FILE = "ensemble.json"
_MOST_LEVELS = 16


def is_ensemble(folder: Path) -> bool:
    """Say whether a folder holds the card of an ensemble."""
    return kind_of(folder / ENSEMBLE_FILE) is not None


def refuse_labyrinth(folder: Path) -> None:
    """Refuse an ensemble that is a member of itself, or that comes to more networks than anybody can ask.

    Not a check of the members: a card of theirs that cannot be read is left to whoever loads them.

    Args:
        folder: of an ensemble.
    """
    networks = _networks(folder, (), {})
    if networks > MOST_MEMBERS:
        raise CheckpointError(
            f"the ensemble {folder} comes to {networks:,} networks, and {MOST_MEMBERS} is the most that an ensemble "
            "may have; choose fewer members"
        )


def _networks(folder: Path, inside: tuple[str, ...], known: dict[str, int]) -> int:
    """Count the networks of a folder that is a member of the ensembles `inside`; each folder is read once."""
    place = os.path.realpath(folder)
    if place in inside:
        raise CheckpointError(f"the ensemble {folder} is a member of itself; fix its {ENSEMBLE_FILE}")
    if len(inside) > _MOST_LEVELS:
        raise CheckpointError(
            f"ensembles of ensembles go more than {_MOST_LEVELS} deep at {folder}; flatten them"
        )
    if place not in known:
        known[place] = sum(_networks(member, (*inside, place), known) for member in _members(folder)) or 1
    return known[place]


def _members(folder: Path) -> list[Path]:
    if not is_ensemble(folder):
        return []
    try:
        return [folder / entry.path for entry in read_record(EnsembleCard, folder / ENSEMBLE_FILE).members]
    except CheckpointError:
        return []
