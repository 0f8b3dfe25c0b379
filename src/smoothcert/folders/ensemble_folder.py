"""Ensemble folders: `ensemble.json` names the members' folders, so that no weights are written twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torch import nn

from smoothcert.arguments import check_kind, check_path
from smoothcert.atomic import write_atomically
from smoothcert.ensembles import EarlyExit, HoldoutUse, check_early_exit
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.agreement import check_agreement, refuse_other_facts
from smoothcert.folders.checkpoint import CARD_FILE, load_checkpoint, read_card
from smoothcert.folders.ensemble_card import EnsembleCard, MemberEntry
from smoothcert.folders.from_card import ensemble_from
from smoothcert.folders.membership import ENSEMBLE_FILE, is_ensemble, refuse_labyrinth
from smoothcert.folders.model_card import ModelCard, read_record
from smoothcert.folders.module_source import Modules, ModuleSource, module_source
from smoothcert.folders.own.permitted import modules_of
from smoothcert.networks import model_digest, multi_head_of
from smoothcert.reading import kind_of


def save_ensemble(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    rule: str = "soft",
    weights: Sequence[float] | None = None,
    early_exit: EarlyExit | None = None,
    heads: Sequence[int] | None = None,
    fitted: Sequence[HoldoutUse] = (),
    module: Modules = None,
) -> EnsembleCard:
    """Write an ensemble folder that points to its members; returns its card.

    Not a copy: moved elsewhere, it must keep its place relative to the members. Writing the same ensemble
    again changes nothing; a folder that holds another model is refused.

    Args:
        folders: of models or of ensembles, trained on the same noise and classes; of a single multi-head network the
            heads are the members.
        out: folder to write; made if missing.
        rule: a name in `VOTING_RULES`.
        weights: one number per member (per head of a single multi-head network), >= 0 but for rule "soft"; None for
            equal ones.
        early_exit: when to stop asking members; None asks all.
        heads: numbers of the heads that vote, in order; all of a single multi-head network by default.
        fitted: the images that chose weights or order; those of members that are ensembles are added.
        module: for members that are code of the user's own, as for `load_model`.
    """
    modules = module_source(module)
    places, home = check_folders(folders), check_path("out", out).resolve()
    check_early_exit(early_exit)
    loaded = [load_model(place, module=modules) for place in places]
    if modules is not module:
        modules.refuse_unasked(out)
    cards = [card for _, card in loaded]
    models = [model for model, _ in loaded]
    network = multi_head_of(*models)
    if heads is None and network is not None:
        heads = range(len(network.heads))
    ensemble = ensemble_from(models, rule, weights, early_exit, heads)
    check_agreement(places, cards)
    paths = [Path(os.path.relpath(place.resolve(), home)).as_posix() for place in places]
    card = EnsembleCard(
        rule=rule,
        weights=None if weights is None else tuple(weights),
        members=tuple(
            MemberEntry(path=path, digest=card.digest) for path, card in zip(paths, cards, strict=True)
        ),
        num_classes=cards[0].num_classes,
        input_shape=cards[0].input_shape,
        noise=cards[0].noise,
        class_names=cards[0].class_names,
        digest=model_digest(ensemble),
        early_exit=early_exit,
        heads=None if heads is None else tuple(heads),
        fitted=_uses(fitted, cards),
    )
    _write(card, home)
    return card


def check_folders(folders: Sequence[str | Path]) -> list[Path]:
    """Return the folders of members; refuse what is no list of paths."""
    check_kind("folders", folders, (list, tuple), "a list of model folders")
    return [check_path("each of folders", folder) for folder in folders]


def load_model(
    folder: str | Path, *, module: Modules = None, factories: Sequence[str] = ()
) -> tuple[nn.Module, ModelCard | EnsembleCard]:
    """Read a model folder or an ensemble folder; the model is in eval mode with frozen weights.

    Not a way to run code that a folder names: a network that is code of the user's own is given as `module`, or built
    by a factory that is named here again. A copy of it is filled with the folder's weights, on the CPU; the module
    itself stays as it is.

    Args:
        folder: what `save_checkpoint`, `save_ensemble`, `train` or `fit` wrote.
        module: a module of the class that the folder's card names, with any weights; a list of several where the
            members of an ensemble are of several classes or sizes. None where the package builds the network.
        factories: "path/file.py:make" or "package.module:make", of code that the folder's card names and that may run.
    """
    folder, modules = check_path("folder", folder), module_source(modules_of(module, factories))
    if is_ensemble(folder):
        refuse_labyrinth(folder)
    loaded = _load(folder, modules)
    if modules is not module:  # a source that was made here is asked nothing else
        modules.refuse_unasked(folder)
    return loaded


def read_any_card(folder: str | Path) -> ModelCard | EnsembleCard:
    """Read the card of a model folder or an ensemble folder without weights, and without checking digests."""
    folder = Path(folder)
    return read_record(EnsembleCard, folder / ENSEMBLE_FILE) if is_ensemble(folder) else read_card(folder)


def _load(folder: Path, modules: ModuleSource) -> tuple[nn.Module, ModelCard | EnsembleCard]:
    """Read a folder that `refuse_labyrinth` has let pass, members and all."""
    if not is_ensemble(folder):
        return load_checkpoint(folder, modules)
    if kind_of(folder / CARD_FILE) is not None:
        raise CheckpointError(f"{folder} holds both {CARD_FILE} and {ENSEMBLE_FILE}; remove one of them")
    card = read_record(EnsembleCard, folder / ENSEMBLE_FILE)
    loaded = [_member(folder, entry, modules) for entry in card.members]
    refuse_other_facts(folder / ENSEMBLE_FILE, card, [member for _, member in loaded])
    try:
        members = [model for model, _ in loaded]
        ensemble = ensemble_from(members, card.rule, card.weights, card.early_exit, card.heads)
    except (InvalidArgumentError, LookupError) as error:
        raise CheckpointError(f"{folder / ENSEMBLE_FILE} is damaged: {error}") from error
    if card.digest != model_digest(ensemble):
        raise CheckpointError(
            f"{folder / ENSEMBLE_FILE} was changed: its digest does not match its rule, weights, early exit "
            "and members"
        )
    return ensemble.eval().requires_grad_(False), card


def _member(
    home: Path, entry: MemberEntry, modules: ModuleSource
) -> tuple[nn.Module, ModelCard | EnsembleCard]:
    """Load one member and hold it to the digest it had when the ensemble was made."""
    try:
        model, card = _load(home / entry.path, modules)
    except CheckpointError as error:
        raise type(error)(f"the ensemble {home} cannot load its member {entry.path}: {error}") from error
    if card.digest != entry.digest:
        raise CheckpointError(
            f"member {entry.path} of the ensemble {home} has changed: digest {card.digest}, expected "
            f"{entry.digest}; restore it or make the ensemble again"
        )
    return model, card


def _uses(fitted: Sequence[HoldoutUse], cards: Sequence[ModelCard | EnsembleCard]) -> tuple[HoldoutUse, ...]:
    """Return the choices made for an ensemble and for its members, each once."""
    inner = [use for card in cards for use in card.fitted]
    uses: list[HoldoutUse] = []
    for use in (*fitted, *inner):
        if use not in uses:
            uses.append(use)
    return tuple(uses)


def _write(card: EnsembleCard, home: Path) -> None:
    """Write the card unless it is there already; never over another model."""
    path = home / ENSEMBLE_FILE
    taken = os.path.lexists(home / CARD_FILE)
    if taken or (is_ensemble(home) and read_record(EnsembleCard, path) != card):
        raise CheckpointError(f"{home} already holds another model; choose another folder or remove it")
    write_atomically(path, card.model_dump_json(indent=2) + "\n")
