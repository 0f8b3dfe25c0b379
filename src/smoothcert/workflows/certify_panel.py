"""Certify several classifiers from the same forward passes, a run folder each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import Procedure, SmoothedClassifier, check_subjects, reach_before
from smoothcert.data import Dataset, TorchData
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution import Execution, Limit, chosen_execution
from smoothcert.store import (
    PanelWriter,
    Run,
    RunDatabase,
    RunWriter,
    begin,
    check_same,
    make_manifest,
    opened,
    origin_of,
)
from smoothcert.workflows.order import Order
from smoothcert.workflows.settled import Wanted, telling_other_model


def certify_panel(
    classifier: SmoothedClassifier,
    dataset: Dataset | TorchData,
    *,
    outs: Mapping[str, str | Path | None],
    procedure: Procedure | None = None,
    alpha: float = 0.001,
    seed: int | None = None,
    indices: Sequence[int] | None = None,
    engine: str = "auto",
    workers: int | None = None,
    batch_size: int | None = None,
    resume: bool = False,
    show_progress: bool | None = None,
    folders: Mapping[str, str | Path] | None = None,
    max_votes: int | None = None,
    max_minutes: float | None = None,
    execution: Execution | None = None,
) -> dict[str, Run]:
    """Certify several classifiers from the same forward passes, one run folder each.

    Every certificate is the one its classifier alone would have got with the same seed.

    Args:
        classifier: smoothed over a `Panel`, which answers for several classifiers at once.
        outs: run folder (or None) by name, one per answer of the panel, in its order.
        folders: the classifiers' model folders by the same names, noted for audits; left out where unknown.

    The other arguments are those of `certify`.
    """
    where = chosen_execution(execution, workers)
    dataset = check_subjects(classifier, dataset)
    check_kind("outs", outs, Mapping, "a table of run folders (or None) by name")
    if folders is not None:
        check_kind("folders", folders, Mapping, "a table of model folders by name")
    check_kind("engine", engine, str, "the name of an engine, or auto")
    limit = Limit(max_votes, max_minutes)
    places = {name: None if out is None else check_path("out", out) for name, out in outs.items()}
    with ExitStack() as held:
        stored = [held.enter_context(opened(place, resume)) for place in places.values()]
        known = next((manifest for manifest in stored if manifest is not None), None)
        order = Order.of(classifier, dataset, indices)
        terms = Wanted(procedure, alpha, seed, indices, engine).terms(order, known)
        with telling_other_model(classifier, list(zip(map(str, places.values()), stored, strict=True))):
            panel = classifier.panel_certification(**terms)
        if len(panel.parts) != len(places):
            raise InvalidArgumentError(
                f"the model answers for {len(panel.parts)} classifiers, but {len(places)} runs are named; "
                "use certify_panel with one name per answer"
            )
        manifests = [make_manifest(part, dataset, order.chosen) for part in panel.parts]
        for place, old, new in zip(places.values(), stored, manifests, strict=True):
            if old is not None:
                check_same(old, new, str(place))
        pace = order.checked(panel, where, batch_size)
        reach = reach_before(panel.parts[0])  # one plan for all
        origins = [origin_of(place, (folders or {}).get(name), dataset) for name, place in places.items()]
        held.enter_context(where)  # before anything is written
        databases: list[RunDatabase] = []
        try:
            for place, old, new, origin in zip(places.values(), stored, manifests, origins, strict=True):
                databases.append(begin(place, old, new, origin))
        except BaseException:  # all or none
            for database in databases:
                database.close()
                database.remove()
            raise
        try:
            writer = PanelWriter(RunWriter(database, dataset) for database in databases)
            stopped = order.run(panel, writer, pace, show_progress, limit)
            runs = {
                name: Run.read(database, name if database.folder is None else database.folder.name, reach)
                for name, database in zip(places, databases, strict=True)
            }
        except BaseException:
            for database in databases:
                database.close()
            raise
        for database in databases:
            database.close(finished=not stopped)
        return runs
