"""The ensembles of the first 1, 2, .. k members, one folder each: what tables by ensemble size are made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from smoothcert.arguments import check_path
from smoothcert.data import Dataset
from smoothcert.ensembles import WEIGHT_FITS, EarlyExit, Holdout, HoldoutUse, OnProgress
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.build import chosen_order, holdout_of, resolved_rule
from smoothcert.folders.ensemble_card import EnsembleCard
from smoothcert.folders.ensemble_folder import check_folders, read_any_card, save_ensemble
from smoothcert.folders.from_card import ensemble_from
from smoothcert.folders.membership import ENSEMBLE_FILE
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.module_source import Modules, module_source


def make_prefixes(
    folders: Sequence[str | Path],
    out: str | Path,
    *,
    rule: str | None = None,
    weights: Sequence[float] | None = None,
    early_exit: EarlyExit | None = None,
    fit: str | None = None,
    order_by_holdout: bool = False,
    dataset: Dataset | None = None,
    images: int | None = None,
    draws: int = 10,
    seed: int | None = None,
    on_progress: OnProgress | None = None,
    module: Modules = None,
) -> dict[Path, EnsembleCard]:
    """Write the ensemble of the first k members for every k; returns cards by folder, the smallest first.

    All or none: what cannot be written whole leaves no folder behind. Weights are fitted to each k anew, on what the
    members answered once; the order is chosen once, on all of them. What is not named here is as for `make_ensemble`.

    Args:
        folders: in the order in which they join; of a single multi-head network the heads do.
        out: where to write the folders k-1, k-2, .. (k-01, .. if there are ten or more).
        weights: those of the first k members, scaled, are the weights of k.
        early_exit: where so few members leave nobody to spare, they are plain.
    """
    places, rule = check_folders(folders), resolved_rule(rule, weights, early_exit, fit)
    count, of_heads = _members(places, weights)
    home, modules = check_path("out", out), module_source(module)
    targets = {k: home / prefix_name(k, count) for k in range(1, count + 1)}
    holdout, order, used = None, list(range(count)), []
    if fit is not None or order_by_holdout:
        if seed is None:
            _refuse_taken(targets.values())
        holdout = holdout_of(places, dataset, fit, images, draws, seed, on_progress, modules)
        ensemble_from(holdout.members, rule, weights, early_exit)  # before thousands of images are asked
        if order_by_holdout:
            order, use = chosen_order(holdout)
            used.append(use)
    cards = {}
    with _all_or_none(list(targets.values())):
        for k in range(count, 0, -1):  # the whole first: what is wrong with it needs no number
            first = order[:k]
            with _named(k, count):
                shares, fitted = _weights(first, weights, holdout, fit)
                cards[targets[k]] = save_ensemble(
                    places if of_heads else [places[number] for number in first],
                    targets[k],
                    rule=rule,
                    weights=shares,
                    early_exit=early_exit
                    if early_exit is None or k == count or early_exit.spares(k)
                    else None,
                    heads=first if of_heads else None,
                    fitted=[*fitted, *used],
                    module=modules,
                )
    return dict(reversed(cards.items()))


def prefix_name(k: int, count: int) -> str:
    """Return the name of the folder of the first k of `count` members; names sort by k."""
    return f"k-{k:0{len(str(count))}d}"


def _members(folders: Sequence[Path], weights: Sequence[float] | None) -> tuple[int, bool]:
    """Return how many members there are, and whether they are heads of one network."""
    if not folders:
        raise InvalidArgumentError("folders must name at least one folder, got none")
    card = read_any_card(folders[0]) if len(folders) == 1 else None
    heads = card.heads if isinstance(card, ModelCard) else None
    count = len(folders) if heads is None else heads
    if weights is not None and len(weights) != count:
        raise InvalidArgumentError(
            f"weights must hold one number per member, got {len(weights)} for {count} members"
        )
    return count, heads is not None


def _refuse_taken(targets: Iterable[Path]) -> None:
    """Refuse folders that hold ensembles, which other noise would not make again."""
    for target in targets:
        if (target / ENSEMBLE_FILE).exists():
            raise CheckpointError(f"{target} already holds an ensemble; choose another folder or remove it")


@contextlib.contextmanager
def _named(k: int, count: int) -> Iterator[None]:
    """Say of which ensemble a complaint is, where it is not of the whole."""
    try:
        yield
    except InvalidArgumentError as error:
        if k == count:
            raise
        raise InvalidArgumentError(f"the ensemble of the first {k} of {count} members: {error}") from error


def _weights(
    first: Sequence[int], weights: Sequence[float] | None, holdout: Holdout | None, fit: str | None
) -> tuple[list[float] | None, list[HoldoutUse]]:
    """Return the weights of some members, in their order, and how they were chosen."""
    if fit is None or holdout is None:
        return None if weights is None else [weights[place] for place in first], []
    places = sorted(first)  # as `make_ensemble` fits: in the order in which the members were given
    part = holdout.only(places)
    chosen, figures = WEIGHT_FITS[fit].choose(part)
    by_place = dict(zip(places, chosen, strict=True))
    return [by_place[place] for place in first], [part.use(fit, figures)]


@contextlib.contextmanager
def _all_or_none(targets: Sequence[Path]) -> Iterator[None]:
    """Remove the ensembles that were not there before if one of them cannot be written."""
    new = [target for target in targets if not (target / ENSEMBLE_FILE).exists()]
    made = [folder for folder in (*new, targets[0].parent) if not folder.exists()]
    try:
        yield
    except BaseException:
        for target in new:
            with contextlib.suppress(OSError):
                (target / ENSEMBLE_FILE).unlink(missing_ok=True)
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
