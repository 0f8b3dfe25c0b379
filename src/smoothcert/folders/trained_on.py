"""Which data sets a model folder was trained on, told by its card or by those of its members."""

from __future__ import annotations

from pathlib import Path

from smoothcert.folders.card_fields import UNKNOWN
from smoothcert.folders.ensemble_card import EnsembleCard
from smoothcert.folders.ensemble_folder import read_any_card
from smoothcert.folders.membership import is_ensemble, refuse_labyrinth
from smoothcert.folders.model_card import ModelCard


def trained_on(folder: str | Path, card: ModelCard | EnsembleCard | None = None) -> tuple[str, ...]:
    """Return the names of the data sets that a model, or any member of an ensemble, was trained on, each once.

    Not a look at the data: the cards are believed. None at all where they do not know.

    Args:
        folder: of a model or an ensemble.
        card: of the folder, where it has been read.
    """
    folder = Path(folder)
    if card is None and is_ensemble(folder):
        refuse_labyrinth(folder)
    return tuple(dict.fromkeys(_names(folder, card)))


def _names(folder: Path, card: ModelCard | EnsembleCard | None = None) -> list[str]:
    card = read_any_card(folder) if card is None else card
    if not isinstance(card, EnsembleCard):
        name = card.dataset["name"]
        return [] if name == UNKNOWN else [name]
    return [name for member in card.members for name in _names(folder / member.path)]
