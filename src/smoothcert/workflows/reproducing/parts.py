"""One part of a table: its classifiers built, certified and read beside the published figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from smoothcert.data import Dataset
from smoothcert.folders import read_card
from smoothcert.networks import describe_model
from smoothcert.report import FIGURES, Evidence, ReproducedPart, ReproducedRow, Summary
from smoothcert.training import TrainConfig
from smoothcert.workflows.reproducing.certifying import Certifier, Job
from smoothcert.workflows.reproducing.classifiers import build_classifier, member_folders
from smoothcert.workflows.reproducing.model_places import ModelPlaces
from smoothcert.workflows.reproducing.plan import Plan, PlannedRow


def reproduce_part(
    plan: Plan,
    name: str,
    places: ModelPlaces,
    *,
    test: Dataset,
    seed: int,
    workers: int | None,
    say: Callable[[str], None],
) -> ReproducedPart:
    """Build, certify and read the rows of one part; all networks must be trained.

    Args:
        plan: what is to be done.
        name: of the part.
        places: where networks and runs are.
        test: images.
        seed: of the noise.
        workers: threads; one per core by default.
        say: told in one line what is being done.
    """
    part, fixed = plan.parts[name], plan.procedure(name)
    certifier = Certifier(name, places, test, plan.indices(test), seed, workers, say)
    rows = plan.rows_of(name)
    members = {row.name: member_folders(plan, row, places, seed=seed, say=say) for row in rows}
    timed = {row.row.reference for row in rows} | {row.name for row in rows if row.row.is_timed}
    jobs = [
        Job(
            row.name,
            build_classifier(plan, row, members[row.name], places, seed=seed, say=say),
            row.procedure(plan.budget.votes) or fixed,
            row.name in timed,
        )
        for row in rows
        if not row.row.envelope
    ]
    names = {job.folder: job.name for job in jobs if job.procedure == fixed}
    for row in rows:
        if row.row.envelope:  # its members are certified, too, unless they are rows themselves
            for member, folder in zip(row.members, members[row.name], strict=True):
                if folder not in names:
                    names[folder] = f"members/{member}{'' if row.row.precision is None else '-int8'}"
                    jobs.append(Job(names[folder], folder, fixed))
    found = certifier.rows(jobs)
    runs = {
        row.name: tuple(found[names[folder]] for folder in members[row.name])
        if row.row.envelope
        else (found[row.name],)
        for row in rows
    }
    made = tuple(_row(plan, row, runs, members[row.name]) for row in rows)
    return ReproducedPart(name, part.radii, made, part.baseline)


def _row(
    plan: Plan, planned: PlannedRow, runs: dict[str, tuple[Summary, ...]], members: list[Path]
) -> ReproducedRow:
    """Put a row's certificates beside what was published of it."""
    row, part = planned.row, plan.parts[planned.part]
    radii = part.radii if row.radius is None else (row.radius,)
    own = runs[planned.name]
    reference = runs.get(row.reference or "", (None,))[0]
    evidence = _evidence(own[0], reference, members)
    return ReproducedRow(
        name=planned.name,
        label=row.label or planned.name,
        tables=row.tables or part.tables or plan.table.tables,
        published=row.published.read(radii, plan.budget.images),
        runs=own,
        figures={name: None if row.envelope else FIGURES[name].of(evidence) for name in row.wanted},
        is_envelope=row.envelope,
    )


def _evidence(run: Summary, reference: Summary | None, members: list[Path]) -> Evidence:
    cards = [read_card(folder) for folder in members]
    trainings = [TrainConfig(**card.training) for card in cards]
    works = [describe_model(one.model, one.heads, one.split).multiply_adds for one in trainings]
    seconds = [card.metrics.get("seconds") for card in cards]
    known = [one for one in seconds if one is not None]
    return Evidence(
        run,
        reference,
        multiply_adds=sum(works),
        training_seconds=sum(known) if len(known) == len(cards) else None,
        epochs=trainings[0].epochs,
    )
