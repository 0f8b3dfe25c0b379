"""Arguments that could name other code: of a card or a run, they are nobody's word but the file's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from smoothcert.errors import ModuleNeededError
from smoothcert.folders.code_entry import Scalar
from smoothcert.folders.own.factory_name import FactoryName
from smoothcert.visible import brief


def refuse_places(arguments: Mapping[str, Scalar], name: FactoryName, folder: Path) -> None:
    """Refuse arguments from a card with which a factory could be sent to code that the user did not name.

    Args:
        arguments: as the card has them.
        name: the factory that the user lets run.
        folder: whose card it is.
    """
    places = place_arguments(arguments)
    if places:
        said = ",".join(f"{key}={value}" for key, value in arguments.items())
        raise ModuleNeededError(
            f"the card of {folder} would call {name} with {_told(places)}, which may name other code or files; if you "
            f"mean them, say them yourself: give the model {name} with --factory-args {brief(said)} --weights {folder} "
            f"(arguments=.., weights=.. in Python)"
        )


def place_arguments(arguments: Mapping[str, Scalar]) -> dict[str, str]:
    """Return the arguments that read like a path, an address or a repository, or are the name of something here."""
    return {
        key: value
        for key, value in arguments.items()
        if isinstance(value, str) and (any(mark in value for mark in "/\\:") or _is_here(value))
    }


def told_places(arguments: Mapping[str, Scalar]) -> str | None:
    """Return how arguments that could name other code are told, in a few words; None if there are none."""
    return _told(places) if (places := place_arguments(arguments)) else None


def _is_here(text: str) -> bool:
    return bool(text) and "\0" not in text and os.path.lexists(text)


def _told(places: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={brief(value, 80)}" for key, value in places.items())
