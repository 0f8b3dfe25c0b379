"""How a model came about, in words: architecture, method, epochs and training images, from the card in its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import (
    EnsembleCard,
    ModelCard,
    is_ensemble,
    read_any_card,
    read_card,
    refuse_labyrinth,
)

_UNKNOWN = "not recorded"


def provenance(folder: str | Path, manifest: Mapping[str, Any]) -> str:
    """Say how the model of a run was made; refuse the folder of another model.

    Not proof of it: a card says what its writer wrote, only the weights are tied to it by their digest.

    Args:
        folder: of a model or an ensemble.
        manifest: of the run.
    """
    home = Path(folder)
    digest, certified = read_any_card(home).digest, str(manifest["model"])
    if digest != certified.partition("/")[0]:
        raise InvalidArgumentError(
            f"models names {home} for a run of another model: its digest is {digest}, the run's {certified}; give the "
            "folder that was certified"
        )
    if is_ensemble(home):
        refuse_labyrinth(home)
    return _words(home)


def _words(home: Path) -> str:
    card = read_any_card(home)
    if isinstance(card, EnsembleCard):
        return _ensemble_words(home, card)
    words = _network_words(card)
    if card.denoised is None:
        return words
    return f"{words}, before a classifier ({_network_words(read_card(home / card.denoised.classifier))})"


def _ensemble_words(home: Path, card: EnsembleCard) -> str:
    """Tell each kind of member once, with how many there are."""
    kinds = Counter(_words(home / member.path) for member in card.members)
    if card.heads is not None:
        voters = f"{len(card.heads)} heads of one network"
    else:
        voters = "1 member" if len(card.members) == 1 else f"{len(card.members)} members"
    parts = [f"{count} x ({words})" if count > 1 else words for words, count in kinds.items()]
    return f"{voters}, rule {card.rule}: {'; '.join(parts)}"


def _network_words(card: ModelCard) -> str:
    epochs, images = card.training.get("epochs"), card.metrics.get("train_images")
    heads = f" with {card.heads} heads" if card.heads else ""
    told = _UNKNOWN if images is None else f"{images:,.0f}"
    return (
        f"architecture {card.architecture}{heads}, method {card.method}, epochs "
        f"{epochs if isinstance(epochs, int) else _UNKNOWN}, training images {told} of {card.dataset['name']}"
    )
