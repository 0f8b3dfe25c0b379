"""Make a paper's table again: train, vote, certify, compare, and write table and page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from smoothcert.arguments import usable_cores
from smoothcert.data import load_dataset
from smoothcert.errors import ManifestMismatchError
from smoothcert.folders import read_card
from smoothcert.report import (
    Reproduction,
    reproduction_tables,
    rows_written,
    write_report,
    write_reproduction,
)
from smoothcert.training import load_recipe
from smoothcert.workflows.reproducing.library import load_table
from smoothcert.workflows.reproducing.model_places import ModelPlaces
from smoothcert.workflows.reproducing.parts import reproduce_part
from smoothcert.workflows.reproducing.plan import Plan, make_plan
from smoothcert.workflows.reproducing.scaled_down import scaled_down
from smoothcert.workflows.reproducing.table_file import TableFile
from smoothcert.workflows.reproducing.trainings import train_all


def reproduce(
    table: str,
    out: str | Path,
    *,
    budget: str = "minutes",
    data_dir: str | Path | None = None,
    models: str | Path | None = None,
    only: Collection[str] = (),
    seed: int = 0,
    workers: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Reproduction:
    """Make a paper's table again and write it beside the published figures.

    What is already in `out` is used again, so that a reproduction that was stopped, at whatever moment, continues.
    Writes models/, runs/, certificates/, table.md, table.csv, table.json, a figure per part and page.html. Not the
    paper's experiment unless the budget is "paper": the result says what was scaled down.

    Args:
        table: a name from `table_names`, or the path of a table file.
        out: folder to write to.
        budget: "minutes", "hours" or "paper".
        data_dir: folder of the data set's files, if it is not embedded.
        models: folder of networks that were trained before, by their names in the table; others are trained.
        only: rows to make, by name or as PART/ROW, beside those that the table in `out` has already; all by default.
        seed: of the noise of hold-outs and certifications; fixed, so that one table can be compared with another.
        workers: trainings at once, and threads that certify; one per core by default.
        say: told in one line what is being done.
    """
    found, home = load_table(table), Path(out)
    places = ModelPlaces(home, None if models is None else Path(models))
    place = None if data_dir is None else str(data_dir)
    plan = make_plan(found, budget, only=only, data_dir=place)
    if only:  # a row that is made by itself does not take the others out of the table
        plan = make_plan(found, budget, only={*only, *_made_before(found, budget, places)}, data_dir=place)
    test = load_dataset(found.dataset, "test", data_dir)  # before hours of training for it
    load_dataset(found.dataset, "train", data_dir)
    train_all(plan.trainings, places, at_once=workers or usable_cores(), say=say)
    try:
        parts = tuple(
            reproduce_part(plan, name, places, test=test, seed=seed, workers=workers, say=say)
            for name in plan.parts
        )
    except ManifestMismatchError as error:
        raise ManifestMismatchError(
            f"{error}. {home} was made by another table, budget or seed: give another out, or remove what is named"
        ) from error
    made = Reproduction(
        found.name,
        found.paper,
        _tables(plan),
        budget,
        parts,
        scaled_down(plan, _used(plan, places), len(test)),
        tuple(_deviations(found, plan)),
    )
    write_reproduction(made, home)
    _write_page(made, plan, home)
    return made


def _made_before(table: TableFile, budget: str, places: ModelPlaces) -> Iterator[str]:
    """Yield the rows, as PART/ROW, that the table of the folder has and whose certificates are still there."""
    stood = rows_written(places.out, budget)
    for planned in make_plan(table, budget).rows:
        name = f"{planned.part}/{planned.name}"
        if name in stood and (planned.row.envelope or places.is_certified(planned.part, planned.name)):
            yield name


def _used(plan: Plan, places: ModelPlaces) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return the settings that the networks were really trained with."""
    return {(one.part, one.name): dict(read_card(places.of(one)).training) for one in plan.trainings}


def _tables(plan: Plan) -> tuple[str, ...]:
    """Return the paper's tables of which at least one row was made."""
    parts = plan.table.parts
    told = {
        one
        for planned in plan.rows
        for one in planned.row.tables or parts[planned.part].tables or plan.table.tables
    }
    return tuple(one for one in plan.table.tables if one in told)


def _deviations(table: TableFile, plan: Plan) -> list[str]:
    """Return what differs from the paper whatever the budget: by the table, and by the recipes of its networks."""
    lines = [] if table.deviation == "none" else [f"Whatever the budget: {table.deviation}."]
    networks = dict.fromkeys(training.network for training in plan.trainings)
    for recipe in dict.fromkeys(table.networks[network].recipe for network in networks):
        told = load_recipe(recipe).deviation
        if told not in (None, "none"):
            lines.append(f"Recipe {recipe}: {told}.")
    return lines


def _write_page(made: Reproduction, plan: Plan, home: Path) -> None:
    """Write the page of all runs, the table on top."""
    several = len(made.parts) > 1
    rows = [(part, row) for part in made.parts for row in part.rows]
    best = max((row for _, row in rows if not row.is_envelope), key=lambda row: row.acr, default=None)
    rows.sort(key=lambda pair: pair[1] is best)  # the headline is about the last
    runs = {
        f"{part.name} {name}" if several else name: run
        for part, row in rows
        for name, run in (
            [(one.name, one) for one in row.runs] if best is None else [(row.name, row.summary)]
        )
        if best is None or not row.is_envelope
    }
    write_report(
        runs,
        home / "page.html",
        title=f"{plan.table.about.rstrip('.')}: {made.paper}, made again",
        notes=[*made.lines, *made.deviations],
        tables=reproduction_tables(made),
        radii=None if several else made.parts[0].radii,
    )
