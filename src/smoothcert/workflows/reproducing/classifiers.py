"""From trained networks to the classifiers of a table's rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from smoothcert.data import Dataset, load_dataset
from smoothcert.ensembles import common_holdout
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import (
    CARD_FILE,
    ENSEMBLE_FILE,
    EnsembleCard,
    held_out_by,
    make_ensemble,
    read_any_card,
    read_card,
    resolved_rule,
)
from smoothcert.networks import INT8
from smoothcert.workflows.quantizing.quantize import quantize
from smoothcert.workflows.reproducing.model_places import ModelPlaces
from smoothcert.workflows.reproducing.plan import Plan, PlannedRow


def build_classifier(
    plan: Plan,
    planned: PlannedRow,
    folders: list[Path],
    places: ModelPlaces,
    *,
    seed: int,
    say: Callable[[str], None],
) -> Path:
    """Return the folder of a row's classifier; an ensemble is made once and found again.

    Args:
        plan: what is to be done.
        planned: the row, no envelope.
        folders: of its members.
        places: where ensembles are.
        seed: of the noise on the hold-out, where weights or order are chosen.
        say: told in one line what is being done.
    """
    row = planned.row
    if row.is_network:
        return folders[0]
    out = places.ensemble(planned.part, planned.name)
    if (out / ENSEMBLE_FILE).exists():
        _refuse_other(out, planned, folders, seed)
        return out
    chooses = row.fit is not None or row.order_by_holdout
    if chooses:
        say(f"{planned.part} {planned.name}: choosing on the hold-out")
    make_ensemble(
        folders,
        out,
        rule=row.rule,
        early_exit=row.exit,
        fit=row.fit,
        order_by_holdout=row.order_by_holdout,
        dataset=_holdout(plan, folders) if chooses else None,
        seed=seed if chooses else None,
    )
    return out


def _quantized(plan: Plan, folder: Path, out: Path, seed: int, say: Callable[[str], None]) -> Path:
    """Return the folder of a network in int8, which is made once and found again, or is all that is left of it."""
    left = read_card(folder).quantized
    if left is not None:
        if left.precision != INT8 or not left.seven_bits:
            raise InvalidArgumentError(
                f"{folder} is not in int8 with weights of seven bits, which the table wants; give the network in "
                "float32, or remove that folder"
            )
        return folder
    if (out / CARD_FILE).exists():
        made = read_card(out).quantized
        if made is None or made.original_digest != read_card(folder).digest:
            raise InvalidArgumentError(
                f"{out} was made from another network than {folder}; remove it with the runs and certificates of its "
                "rows"
            )
        return out
    say(f"{folder.name}: quantising")
    # Seven bits, because eight saturate on some processors, and the votes would depend on whose they are.
    quantize(
        folder,
        _range_images(plan, folder, say),
        out,
        precision=INT8,
        seven_bits=True,
        seed=seed,
        show_progress=True,
    )
    return out


def _refuse_other(out: Path, planned: PlannedRow, folders: list[Path], seed: int) -> None:
    """Refuse an ensemble that was made for another row, of other networks, or with other noise."""
    card, row = read_any_card(out), planned.row
    assert isinstance(card, EnsembleCard)
    members = [entry.digest for entry in card.members]
    wanted = [read_card(folder).digest for folder in folders]
    if row.order_by_holdout:
        members, wanted = sorted(members), sorted(wanted)
    inherited = [use for folder in folders for use in read_card(folder).fitted]  # ranges of networks in int8
    chosen = [use for use in card.fitted if use not in inherited]
    purposes = {*([] if row.fit is None else [row.fit]), *(["order"] if row.order_by_holdout else [])}
    differing = [
        what
        for what, one, other in (
            ("networks", members, wanted),
            ("rule", card.rule, resolved_rule(row.rule, None, row.exit, row.fit)),
            ("early exit", card.early_exit, row.exit),
            ("choices on the hold-out", {use.purpose for use in chosen}, purposes),
            ("seed", {use.seed for use in chosen} - {seed}, set()),
        )
        if one != other
    ]
    if differing:
        raise InvalidArgumentError(
            f"{out} is an ensemble with another {', '.join(differing)} than row {planned.name} has now; give another "
            "out, or remove it with the runs and certificates of that row"
        )


def member_folders(
    plan: Plan, planned: PlannedRow, places: ModelPlaces, *, seed: int, say: Callable[[str], None]
) -> list[Path]:
    """Return the folders of a row's networks, in its order; those in int8 are made once and found again.

    Args:
        plan: what is to be done.
        planned: the row.
        places: where the networks are.
        seed: of the noise on the images that set ranges.
        say: told in one line what is being done.
    """
    trainings = {one.name: one for one in plan.trainings if one.part == planned.part}
    folders = [places.of(trainings[name]) for name in planned.members]
    _refuse_twins(planned, folders)
    if planned.row.precision is None:
        rounded = next((folder for folder in folders if read_card(folder).quantized is not None), None)
        if rounded is not None:
            raise InvalidArgumentError(
                f"{rounded} is below float32, and row {planned.name} is about the network in float32; give that one"
            )
        return folders
    return [_quantized(plan, folder, places.quantized(planned.part, folder), seed, say) for folder in folders]


def _refuse_twins(planned: PlannedRow, folders: list[Path]) -> None:
    """Refuse the same network for two members: copies among given models, where the table has separate trainings."""
    seen: dict[str, Path] = {}
    for folder in folders:
        first = seen.setdefault(read_card(folder).digest, folder)
        if first != folder:
            raise InvalidArgumentError(
                f"{first} and {folder} hold the same weights, and row {planned.name} wants networks of separate "
                "trainings; give others, or train them"
            )


def _range_images(plan: Plan, folder: Path, say: Callable[[str], None]) -> Dataset:
    """Return the images that set the ranges of a network in int8: learnt ones where it held out none."""
    if held_out_by(folder) != (0,):
        return _holdout(plan, [folder])
    say(f"{folder.name} has learnt all training images: some of them set its ranges")
    return load_dataset(plan.table.dataset, "train", plan.trainings[0].config.data_dir, holdout=0)


def _holdout(plan: Plan, folders: list[Path]) -> Dataset:
    size = common_holdout([read_card(folder) for folder in folders])
    data_dir = plan.trainings[0].config.data_dir
    return load_dataset(plan.table.dataset, "holdout", data_dir, holdout=size)
