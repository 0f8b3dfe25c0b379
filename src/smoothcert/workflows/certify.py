"""Certify a data set into run folders: the one place where running and storing meet."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import (
    Certificate,
    Certification,
    FixedSample,
    Procedure,
    Reach,
    SmoothedClassifier,
    asked_radii,
    check_batch_size,
    check_match,
    check_subjects,
)
from smoothcert.data import Dataset, check_indices
from smoothcert.ensembles import refuse_overlap
from smoothcert.errors import (
    EngineDisagreementError,
    InvalidArgumentError,
    SmoothcertError,
    UnsoundModelError,
)
from smoothcert.execution import certify_images
from smoothcert.progress import progress
from smoothcert.sampling import COMPARED_CHUNKS, check_workers
from smoothcert.store import (
    Run,
    RunDatabase,
    begin,
    check_same,
    hold,
    make_manifest,
    origin_of,
    stored_manifest,
)

_log = logging.getLogger("smoothcert")


def certify(
    classifier: SmoothedClassifier,
    dataset: Dataset,
    *,
    procedure: Procedure | None = None,
    alpha: float = 0.001,
    seed: int | None = None,
    indices: Sequence[int] | None = None,
    engine: str = "auto",
    workers: int | None = None,
    batch_size: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    show_progress: bool | None = None,
) -> Run:
    """Certify images of a data set and return the run.

    Nothing is written before the arguments, the model and every image have been checked.

    Args:
        classifier: what to certify.
        dataset: images and labels.
        procedure: how to spend votes; CERTIFY with 100 + 100,000 by default.
        alpha: error probability per image, one-sided.
        seed: None draws a secret one and records it; on resume the recorded one is used.
        indices: images of the data set; all by default.
        engine: "auto" or the name of an engine.
        workers: threads; one per core by default.
        batch_size: most rows per forward pass; does not change any vote.
        out: run folder; None keeps the run in memory.
        resume: continue the run in `out`, or start it if there is none.
        show_progress: None shows it on a terminal only.
    """
    check_subjects(classifier, dataset)
    runs = certify_panel(
        classifier,
        dataset,
        outs={"run": out},
        procedure=procedure,
        alpha=alpha,
        seed=seed,
        indices=indices,
        engine=engine,
        workers=workers,
        batch_size=batch_size,
        resume=resume,
        show_progress=show_progress,
        folders={} if classifier.folder is None else {"run": classifier.folder},
    )
    return runs["run"]


def certify_panel(
    classifier: SmoothedClassifier,
    dataset: Dataset,
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
) -> dict[str, Run]:
    """Certify several classifiers from the same forward passes, one run folder each.

    Every certificate is the one its classifier alone would have got with the same seed.

    Args:
        classifier: smoothed over a `Panel`, which answers for several classifiers at once.
        outs: run folder (or None) by name, one per answer of the panel, in its order.
        folders: the classifiers' model folders by the same names, noted for audits; left out where unknown.

    The other arguments are those of `certify`.
    """
    check_subjects(classifier, dataset)
    check_kind("outs", outs, Mapping, "a table of run folders (or None) by name")
    if folders is not None:
        check_kind("folders", folders, Mapping, "a table of model folders by name")
    check_kind("engine", engine, str, "the name of an engine, or auto")
    runs_at = {name: None if out is None else check_path("out", out) for name, out in outs.items()}
    with hold(runs_at.values()):  # before the first check, so that nobody works in vain
        stored = [stored_manifest(folder, resume) for folder in runs_at.values()]
        known = next((manifest for manifest in stored if manifest is not None), None)
        if known is not None:  # what the user left open stays as it was
            seed = int(known["seed"]) if seed is None else seed
            engine = known["engine"] if engine == "auto" else engine
        chosen = check_indices(dataset, indices)
        check_match(classifier, dataset, chosen)
        refuse_overlap(classifier, dataset, chosen)
        first = _check_images(classifier, dataset, chosen)
        certification = classifier.certification(
            FixedSample() if procedure is None else procedure,
            alpha=alpha,
            seed=seed,
            engine=engine,
            example=first,
            images=len(chosen),
        )
        if len(certification.models) != len(runs_at):
            raise InvalidArgumentError(
                f"the model answers for {len(certification.models)} classifiers, but {len(runs_at)} runs are named; "
                "use certify_panel with one name per answer"
            )
        manifests = [make_manifest(certification, i, dataset, chosen) for i in range(len(runs_at))]
        for folder, old, new in zip(runs_at.values(), stored, manifests, strict=True):
            if old is not None:
                check_same(old, new, str(folder))
        workers = check_workers(workers)
        rows = check_batch_size(batch_size, first, certification.engine)
        some = {index: classifier.check_image(dataset.image(index)) for index in chosen[:COMPARED_CHUNKS]}
        certification.check(some, batch_size=rows)
        _warn_of_radii_out_of_reach(certification)
        origins = [origin_of(out, (folders or {}).get(name), dataset) for name, out in runs_at.items()]
        databases = begin(runs_at.values(), stored, manifests, origins)
        try:
            _run(certification, dataset, chosen, databases, workers, rows, show_progress)
            runs = {name: Run.read(db, _title(name, db)) for name, db in zip(runs_at, databases, strict=True)}
        except BaseException:
            for database in databases:
                database.close()
            raise
        for database in databases:
            database.close(finished=True)
        return runs


def _warn_of_radii_out_of_reach(certification: Certification) -> None:
    """Say so before the first vote where even unanimous votes could not prove what is asked."""
    reach = Reach(certification.plan.largest_radius, asked_radii(certification.procedure))
    if not reach.proves_all and reach.asked is not None:
        most = "no radius" if reach.largest is None else f"at most {reach.largest:.4g}"
        _log.warning(
            "radius %g cannot be proven with these votes, whatever they are (%s can); take more (n)",
            reach.asked[-1],
            most,
        )


def _run(
    certification: Certification,
    dataset: Dataset,
    chosen: Sequence[int],
    databases: Sequence[RunDatabase],
    workers: int,
    batch_size: int,
    show_progress: bool | None,
) -> None:
    """Certify what the databases do not hold yet."""
    keeper = _Keeper(databases, dataset)
    done = keeper.finished_everywhere()
    left = [index for index in chosen if index not in done]
    try:
        with progress("certifying", len(left), shown=show_progress) as show:
            certify_images(
                certification,
                dataset,
                left,
                keeper,
                workers=workers,
                batch_size=batch_size,
                saved=databases[0].unfinished,
                show=show,
            )
    except (EngineDisagreementError, UnsoundModelError):
        keeper.withdraw()
        raise


class _Keeper:
    """Writes what the runner brings into the databases of a panel's classifiers."""

    def __init__(self, databases: Sequence[RunDatabase], dataset: Dataset) -> None:
        self.databases, self.labels = databases, dataset.labels
        self.added: list[list[int]] = [[] for _ in databases]  # by this process
        self.done = [{row[0] for row in db.each("SELECT idx FROM certificates")} for db in databases]

    def finished_everywhere(self) -> set[int]:
        return set.intersection(*self.done)

    def finished(self, certificates: Sequence[Certificate]) -> None:
        places = zip(self.databases, self.done, self.added, certificates, strict=True)
        for database, done, added, certificate in places:
            if certificate.index not in done:  # a crash may have come between two databases
                added.append(certificate.index)  # first, because Ctrl-C may come in between
                database.add(certificate, int(self.labels[certificate.index]))
                done.add(certificate.index)

    def withdraw(self) -> None:
        """Take back what this process wrote: the model turned out to be no fixed function."""
        for database, added in zip(self.databases, self.added, strict=True):
            database.withdraw(added)

    def unfinished(self, states: Mapping[int, dict[str, Any]]) -> None:
        self.databases[0].save_unfinished(states)


def _check_images(classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]) -> torch.Tensor:
    """Check every image and return the first."""
    for index in indices:
        try:
            image = classifier.check_image(dataset.image(index))
        except SmoothcertError as error:
            raise type(error)(f"image {index} of {dataset.name}: {error}") from error
        if index == indices[0]:
            first = image
    return first


def _title(name: str, database: RunDatabase) -> str:
    return name if database.folder is None else database.folder.name
