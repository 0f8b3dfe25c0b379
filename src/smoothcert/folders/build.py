"""From member folders to an ensemble folder, with weights and order chosen on a hold-out if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import NoneType

from smoothcert.arguments import check_kind, check_path
from smoothcert.data import Dataset
from smoothcert.ensembles import (
    WEIGHT_FITS,
    EarlyExit,
    Holdout,
    HoldoutUse,
    OnProgress,
    check_early_exit,
    common_holdout,
    order_by_noisy_accuracy,
    refuse_other_holdout,
)
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.ensemble_card import EnsembleCard
from smoothcert.folders.ensemble_folder import check_folders, save_ensemble
from smoothcert.folders.from_card import ensemble_from
from smoothcert.folders.member_folders import gather_members
from smoothcert.folders.membership import ENSEMBLE_FILE
from smoothcert.folders.module_source import Modules


def make_ensemble(
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
) -> EnsembleCard:
    """Write an ensemble folder; choose order and weights on noisy hold-out images first, where asked for.

    Args:
        folders: of models or of ensembles; of a single multi-head network the heads are the members.
        out: folder to write; made if missing.
        rule: a name in `VOTING_RULES`; by default the one that fitted weights or the early exit are for, or "soft".
        weights: one number per member (>= 0 but for rule "soft"), in the order of `folders` or of the heads.
        early_exit: when to stop asking members; None asks all.
        fit: a name in `WEIGHT_FITS` that chooses the weights.
        order_by_holdout: put the member that is most accurate on noisy images first.
        dataset: the hold-out to choose by; not a test split.
        images: use the first so many of it; 2,000 by default, 200 for "esbrs".
        draws: noisy copies of each image.
        seed: of noise and perturbations; None draws one and records it.
        on_progress: told how much of each choice is done.
        module: for members that are code of the user's own, as for `load_model`.
    """
    places = check_folders(folders)
    rule = resolved_rule(rule, weights, early_exit, fit)
    if fit is None and not order_by_holdout:
        return save_ensemble(places, out, rule=rule, weights=weights, early_exit=early_exit, module=module)
    if seed is None and (check_path("out", out) / ENSEMBLE_FILE).exists():
        raise CheckpointError(f"{out} already holds an ensemble; choose another folder or remove it")
    holdout = holdout_of(places, dataset, fit, images, draws, seed, on_progress, module)
    # Before the members are asked about thousands of images: whatever will be wrong whichever weights are found.
    ensemble_from(holdout.members, rule, weights, early_exit)
    used, heads = [], None
    if fit is not None:
        weights, figures = WEIGHT_FITS[fit].choose(holdout)
        used.append(holdout.use(fit, figures))
    if order_by_holdout:
        order, use = chosen_order(holdout)
        used.append(use)
        if holdout.of_heads:
            heads = order
        else:
            places = [places[number] for number in order]
        weights = None if weights is None else [weights[number] for number in order]
    return save_ensemble(
        places,
        out,
        rule=rule,
        weights=weights,
        early_exit=early_exit,
        heads=heads,
        fitted=used,
        module=module,
    )


def resolved_rule(
    rule: str | None, weights: Sequence[float] | None, early_exit: EarlyExit | None, fit: str | None
) -> str:
    """Return the rule that is meant; refuse what contradicts fitted weights. Arguments as for `make_ensemble`."""
    check_early_exit(early_exit)
    check_kind("rule", rule, (str, NoneType), "the name of a voting rule, or None for the usual one")
    if early_exit is not None and rule is None:
        rule = early_exit.rule
    if fit is not None:
        _refuse_other_weights(fit, rule, weights)
        return WEIGHT_FITS[fit].rule
    return "soft" if rule is None else rule


def chosen_order(holdout: Holdout) -> tuple[list[int], HoldoutUse]:
    """Return the members by accuracy on the noisy hold-out, the best first, and the record of that choice."""
    logits, labels = holdout.outputs()
    order = list(order_by_noisy_accuracy(logits, labels))
    right = (logits.argmax(dim=2) == labels.unsqueeze(1)).double().mean(dim=0).tolist()
    return order, holdout.use("order", {f"accuracy-{n}": right[place] for n, place in enumerate(order)})


def _refuse_other_weights(fit: str, rule: str | None, weights: Sequence[float] | None) -> None:
    """Refuse an unknown way to fit, and what contradicts fitted weights."""
    own = WEIGHT_FITS[fit].rule
    if weights is not None:
        raise InvalidArgumentError(f"fit {fit!r} chooses the weights; leave weights out")
    if rule not in (None, own):
        raise InvalidArgumentError(
            f"fit {fit!r} chooses weights of {WEIGHT_FITS[fit].weighs}, for rule {own!r}, got rule {rule!r}"
        )


def holdout_of(
    folders: Sequence[Path],
    dataset: Dataset | None,
    fit: str | None,
    images: int | None,
    draws: int,
    seed: int | None,
    on_progress: OnProgress | None,
    module: Modules,
) -> Holdout:
    """Load the members and bring them together with the images, refusing what does not fit.

    Arguments as for `make_ensemble`.
    """
    if dataset is None:
        raise InvalidArgumentError("choosing weights or order needs hold-out images; give their dataset")
    check_kind("dataset", dataset, Dataset, "a smoothcert Dataset, load_dataset(name, 'holdout')")
    members = gather_members(folders, dataset, module)
    refuse_other_holdout(members.cards, dataset)
    size = common_holdout(members.cards)
    if size is not None and dataset.split == "holdout" and len(dataset) != size:
        raise InvalidArgumentError(
            f"the members held out {size:,} images, but {len(dataset):,} are given, and they may have learnt some; "
            f"give load_dataset({dataset.name!r}, 'holdout', .., holdout={size})"
        )
    return Holdout(
        members.models,
        members.noise,
        dataset,
        images=WEIGHT_FITS[fit or "sween"].images if images is None else images,
        draws=draws,
        seed=seed,
        on_progress=on_progress,
        of_heads=members.of_heads,
    )
