"""Members of an ensemble that are files or factories: each gets a model folder of its own beside the ensemble."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.checkpoint import CARD_FILE, read_card
from smoothcert.folders.own.factory_name import FactoryName
from smoothcert.folders.own.facts import Facts
from smoothcert.folders.own.importing import own_card, save_own
from smoothcert.folders.own.own_model import is_own, load_own
from smoothcert.networks import model_digest
from smoothcert.noise import NoiseLaw
from smoothcert.reading import kind_of


@contextlib.contextmanager
def imported(
    members: Sequence[Path],
    home: Path,
    noise: NoiseLaw | None,
    weights: Sequence[Path],
    facts: Mapping[str, Any],
) -> Iterator[list[Path]]:
    """Give the folders of members, after writing one for each that is none; what fails leaves none behind.

    Args:
        members: folders, ONNX files, factories.
        home: where to write member-0, member-1, .., by a member's place.
        noise: the law they were trained under; None for what the cards of weights say.
        weights: one file or folder per factory, in their order; none for factories that bring their own.
        facts: what is said about all of them, as arguments of `Facts`.
    """
    factories = [place for place, member in enumerate(members) if _is_factory(member)]
    if weights and len(weights) != len(factories):
        raise InvalidArgumentError(
            f"member weights must be one per factory, got {len(weights)} for {len(factories)} factories"
        )
    weights_of = dict(zip(factories, weights, strict=False))
    written: list[Path] = []
    try:
        yield [
            _folder(member, home / f"member-{place}", noise, weights_of.get(place), facts, written)
            if is_own(member)
            else member
            for place, member in enumerate(members)
        ]
    except BaseException:
        for folder in written:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # there is something else in it
            home.rmdir()
        raise


def _is_factory(member: Path) -> bool:
    return is_own(member) and FactoryName.read(member) is not None


def _folder(
    member: Path,
    folder: Path,
    noise: NoiseLaw | None,
    weights: Path | None,
    facts: Mapping[str, Any],
    written: list[Path],
) -> Path:
    """Write one member's folder, or take the one that is there if it holds the same."""
    told = dict(facts)
    if not _is_factory(member):
        told.pop("arguments", None)
    own = load_own(member, Facts.checked(**told, weights=weights))
    if kind_of(folder / CARD_FILE) is not None:
        card = own_card(own, noise).model_copy(update={"digest": model_digest(own.model)})
        if read_card(folder) != card:
            raise CheckpointError(f"{folder} already holds another model; choose another folder or remove it")
        return folder
    if kind_of(folder) is not None:
        raise CheckpointError(
            f"{folder} is there already and holds no model; choose another folder or remove it"
        )
    save_own(own, folder, noise)
    written.append(folder)
    return folder
