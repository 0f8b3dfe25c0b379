"""`audit`: can a run folder be trusted? Nothing stored in it is believed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.arguments import check_path
from smoothcert.certificates import Certification, SmoothedClassifier
from smoothcert.data import Dataset, TorchData
from smoothcert.errors import DamagedRunError, InvalidArgumentError, SmoothcertError
from smoothcert.execution import Execution, chosen_execution
from smoothcert.folders import check_factories
from smoothcert.progress import progress
from smoothcert.sampling import Chunk, check_batch_size
from smoothcert.seeding import check_seed
from smoothcert.store import RunDatabase, make_manifest, package_versions, refuse_no_run
from smoothcert.workflows.auditing.checks import (
    check_images,
    check_labels,
    check_proofs,
    check_seals,
    note_logs,
    note_versions,
)
from smoothcert.workflows.auditing.costs import CostComparison
from smoothcert.workflows.auditing.parts import Source, find_classifier, find_dataset, read_origin
from smoothcert.workflows.auditing.redraw import Comparison, Place, choose, redraw
from smoothcert.workflows.auditing.report import AuditReport
from smoothcert.workflows.auditing.stored import StoredRun, Stream, read_stored
from smoothcert.workflows.auditing.terms import Terms, other_fields, read_terms

_LEFT_OUT = ("versions", "engine")  # noted, resolved anew


def audit(
    run: str | Path,
    *,
    model: Source | None = None,
    dataset: Dataset | TorchData | str | None = None,
    data_dir: str | Path | None = None,
    fraction: float | None = None,
    seed: int | None = None,
    workers: int | None = None,
    batch_size: int | None = None,
    show_progress: bool | None = None,
    factories: Sequence[str] = (),
    execution: Execution | None = None,
) -> AuditReport:
    """Check a run folder: every radius from its votes, digests, and votes drawn again from their keys.

    Not a second certification: with the default fraction one chunk in a hundred is drawn again. A change of m chunks
    escapes with probability (1 - fraction)^m; to raise one radius takes the votes of many. Nor can it see, from inside,
    what never was in the folder: images that were cut out of it, manifest and rows together, or runs that nobody kept.

    Args:
        run: the run folder.
        model: folder of the model, ONNX file, factory, a classifier, a callable or an estimator; by default where the
            run says it was.
        dataset: a data set, its name or its path; by default the one of the manifest, where the run noted it.
        data_dir: folder of the data set's files; by default where the run says they were.
        fraction: share of the chunks to draw again, from 0 to 1; None: .01, at least 256 chunks.
        seed: of the choice of chunks; None draws a secret one.
        workers: threads; one per core by default.
        batch_size: most rows per forward pass.
        show_progress: None shows it on a terminal only.
        factories: "path/file.py:make" or "package.module:make", that the run or its model folder names and that may
            run; none does by itself.
        execution: where votes are drawn again, such as RayExecution(); on threads here by default.
    """
    folder = check_path("run", run)
    check_factories(factories)
    how: dict[str, Any] = {
        "execution": chosen_execution(execution, workers),
        "batch_size": batch_size,
        "show_progress": show_progress,
    }
    _check_arguments(fraction, batch_size)
    report = AuditReport(str(run), seed=check_seed(seed))
    try:
        stored = _read(folder)
    except DamagedRunError as error:
        report.add_finding("file", str(error))
        return report
    report.images = len(stored.images)
    for text in stored.foreign:
        report.add_finding("file", f"{text}: other readers may see other values")
    terms = None if stored.foreign else read_terms(stored.manifest, report)
    if terms is None:
        return report
    streams = _check_folder(folder, stored, terms, report, show_progress)
    origin = read_origin(stored, report)
    images = find_dataset(
        stored.manifest, folder, origin, dataset, None if data_dir is None else Path(data_dir), report
    )
    if images is not None:
        check_labels(stored, images, report)
    classifier = find_classifier(stored.manifest, terms.noise, folder, origin, model, report, factories)
    if fraction == 0:
        report.note("no vote was drawn again, as asked", first=True)
    elif classifier is not None and images is not None:
        with _refusals(report):
            certification = _certification(classifier, images, stored, terms, report)
            if certification is not None:
                _redraw(certification, images, streams, fraction, report, **how)
    return report


def _check_folder(
    folder: Path, stored: StoredRun, terms: Terms, report: AuditReport, show_progress: bool | None
) -> list[Stream]:
    """Check what needs nothing but the folder; return what votes can be read."""
    check_images(stored, report)
    check_seals(stored, report)
    with progress("proving again", len(stored.images), shown=show_progress) as show:
        streams = check_proofs(stored, terms, report, show)
    note_versions(stored, report)
    note_logs(folder, report)
    return streams


def _check_arguments(fraction: Any, batch_size: Any) -> None:
    number = isinstance(fraction, int | float) and not isinstance(fraction, bool)
    if fraction is not None and not (number and 0 <= fraction <= 1):
        raise InvalidArgumentError(f"fraction must be a share from 0 to 1, got {fraction!r}")
    whole = isinstance(batch_size, int) and not isinstance(batch_size, bool)
    if batch_size is not None and not (whole and batch_size >= 1):
        raise InvalidArgumentError(f"batch_size must be a positive integer of rows, got {batch_size!r}")


def _read(folder: Path) -> StoredRun:
    refuse_no_run(folder)
    database = RunDatabase(folder, writable=False)
    try:
        return read_stored(database)
    finally:
        database.close()


@contextmanager
def _refusals(report: AuditReport) -> Iterator[None]:
    """Take a model or image that is refused for a finding: whoever made the run was not refused."""
    try:
        yield
    except SmoothcertError as error:
        report.add_finding("votes", f"its votes cannot be drawn again: {error}")


def _certification(
    classifier: SmoothedClassifier, dataset: Dataset, stored: StoredRun, terms: Terms, report: AuditReport
) -> Certification | None:
    """Bind the classifier as the manifest says; None if it has no image, or this machine cannot run it."""
    engine, there = stored.manifest["engine"], [image.index for image in stored.images]
    inside = [index for index in there if index < len(dataset)]
    if not inside:
        return None
    example = classifier.check_image(dataset.image(inside[0]))
    try:
        certification = classifier.certification(
            terms.procedure,
            alpha=terms.alpha,
            seed=terms.seed,
            engine=engine,
            example=example,
            images=len(stored.images),
        )
    except InvalidArgumentError as error:  # made on a device that this machine does not have
        report.note(f"its votes cannot be drawn again here: {error}", first=True)
        return None
    used = certification.engine
    if used.engine_name != engine and used.precision is not None:
        report.note(
            f"its votes in {used.precision} cannot be drawn again here, where arithmetic would explain a difference: "
            f"engine {engine} {used.stands_in or 'is not the one that runs it'}",
            first=True,
        )
        return None
    if certification.engine.engine_name != engine:
        report.note(f"made with engine {engine}, drawn again with {certification.engine.engine_name}")
    again = make_manifest(certification, dataset, stored.manifest["indices"])
    same = {field: stored.manifest[field] for field in _LEFT_OUT}
    stored_packages = stored.manifest.get("packages")
    if stored_packages and set(package_versions(stored_packages)) == set(
        package_versions(again.get("packages"))
    ):
        same["packages"] = stored_packages  # of other versions, perhaps, which is noted
    for text in other_fields(stored.manifest, {**again, **same}):
        report.add_finding("manifest", text)
    return certification


def _redraw(
    certification: Certification,
    dataset: Dataset,
    streams: Sequence[Stream],
    fraction: float | None,
    report: AuditReport,
    *,
    execution: Execution,
    batch_size: int | None,
    show_progress: bool | None,
) -> None:
    """Draw a share of the votes again and compare them one by one, and what they cost."""
    streams = [stream for stream in streams if stream.image.index < len(dataset)]
    report.all_chunks = sum(stream.chunks for stream in streams)
    if not report.all_chunks:
        return
    images = list({stream.image.index: stream.image for stream in streams}.values())
    places = choose(streams, certification.engine.num_classes, fraction, report.seed)
    first = dataset.image(places[0].index)
    rows = check_batch_size(batch_size, first, certification.engine)
    certification.check({places[0].index: first}, batch_size=rows)
    votes, costs = Comparison(certification, report), CostComparison(certification, images, report)

    def take(place: Place, chunk: Chunk, classes: NDArray[np.unsignedinteger], evaluations: int) -> None:
        votes.take(place, chunk, classes)
        costs.take(place, evaluations)

    with progress("drawing votes again", len(places), shown=show_progress) as show:
        redraw(certification, dataset, places, take, execution=execution, batch_size=rows, show=show)
    costs.conclude()
    votes.conclude()
