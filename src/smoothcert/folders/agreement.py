"""What the members of an ensemble must agree on, and its card with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.ensemble_card import EnsembleCard
from smoothcert.folders.model_card import ModelCard
from smoothcert.visible import brief

_MUST_AGREE = ("noise", "num_classes", "input_shape", "class_names")


def check_agreement(folders: Sequence[str | Path], cards: Sequence[ModelCard | EnsembleCard]) -> None:
    """Refuse members that were trained for different images, classes or noise; name the first that differs."""
    for name in _MUST_AGREE:
        for member, card in zip(folders, cards, strict=True):
            if getattr(card, name) != getattr(cards[0], name):
                raise InvalidArgumentError(
                    f"members must agree on {name}: {folders[0]} has "
                    f"{brief(getattr(cards[0], name))}, {member} has {brief(getattr(card, name))}; choose members "
                    "trained alike"
                )


def refuse_other_facts(path: Path, card: EnsembleCard, members: Sequence[ModelCard | EnsembleCard]) -> None:
    """Refuse a card that says of the ensemble what its members do not say of themselves."""
    for fact in _MUST_AGREE:
        for member in members:
            if getattr(member, fact) != getattr(card, fact):
                raise CheckpointError(
                    f"{path} was changed: it says {fact} {brief(getattr(card, fact))}, its members "
                    f"say {brief(getattr(member, fact))}; restore it or make the ensemble again"
                )
