"""Which data sets a model folder was trained on, and what was held out, told by its card or its members' cards."""

from __future__ import annotations

from pathlib import Path

from smoothcert.data import held_out
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
    cards = _cards(Path(folder)) if card is None else _cards_of(Path(folder), card)
    return tuple(dict.fromkeys(one.dataset["name"] for one in cards if one.dataset["name"] != UNKNOWN))


def held_out_by(folder: str | Path) -> tuple[int | None, ...]:
    """Return how many images the trainings of a model, or of the members of an ensemble, held out, each number once.

    0 for none, None for the usual number of the data set.

    Args:
        folder: of a model or an ensemble.
    """
    sizes = (held_out(card.training.get("holdout")) for card in _cards(Path(folder)))
    return tuple(dict.fromkeys(sizes))


def network_cards(folder: str | Path) -> list[ModelCard]:
    """Return the cards of the networks of a folder: its own, or those of its members at any depth.

    Args:
        folder: of a model or an ensemble.
    """
    return _cards(Path(folder))


def _cards(folder: Path) -> list[ModelCard]:
    if is_ensemble(folder):
        refuse_labyrinth(folder)
    return _cards_of(folder, read_any_card(folder))


def _cards_of(folder: Path, card: ModelCard | EnsembleCard) -> list[ModelCard]:
    if not isinstance(card, EnsembleCard):
        return [card]
    places = [folder / member.path for member in card.members]
    return [one for place in places for one in _cards_of(place, read_any_card(place))]
