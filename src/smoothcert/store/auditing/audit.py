"""`audit`: can a run folder be trusted? Nothing stored in it is believed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from smoothcert.certificates import Certification, SmoothedClassifier, check_batch_size
from smoothcert.data import Dataset
from smoothcert.errors import DamagedRunError, InvalidArgumentError, SmoothcertError
from smoothcert.execution import progress
from smoothcert.sampling import CHUNK_VOTES, check_workers
from smoothcert.seeding import check_seed
from smoothcert.store.auditing.checks import (
    Terms,
    check_images,
    check_labels,
    check_proofs,
    check_seals,
    note_versions,
    read_terms,
)
from smoothcert.store.auditing.costs import CostComparison
from smoothcert.store.auditing.parts import Source, find_classifier, find_dataset
from smoothcert.store.auditing.redraw import Comparison, all_places, choose, drawn_again
from smoothcert.store.auditing.report import AuditReport
from smoothcert.store.auditing.stored import StoredImage, StoredRun, read_stored
from smoothcert.store.auditing.whole_images import CountComparison, places_of
from smoothcert.store.database import RunDatabase, refuse_no_run
from smoothcert.store.manifest import differences, make_manifest

_BARE_FRACTION = 0.01  # of the images, where only counts are stored
_LEFT_OUT = ("versions", "engine", "format")  # noted, resolved anew, checked before


def audit(
    run: str | Path,
    *,
    model: Source | None = None,
    dataset: Dataset | str | None = None,
    data_dir: str | Path | None = None,
    fraction: float | None = None,
    seed: int | None = None,
    workers: int | None = None,
    batch_size: int | None = None,
    show_progress: bool | None = None,
) -> AuditReport:
    """Check a run folder: every radius from its votes, digests, and votes drawn again from their keys.

    Not a second certification: with the default fraction one chunk in a hundred is drawn again. A change of m chunks
    escapes with probability (1 - fraction)^m; to raise one radius takes the votes of many.

    Args:
        run: the run folder.
        model: folder of the model, a classifier or a callable; by default where the run says it was.
        dataset: a data set or its name; by default the one of the manifest.
        data_dir: folder of the data set's files; by default where the run says they were.
        fraction: share of the chunks to draw again, from 0 to 1; None: .01, at least 256 chunks.
        seed: of the choice of chunks; None draws a secret one.
        workers: threads; one per core by default.
        batch_size: most rows per forward pass.
        show_progress: None shows it on a terminal only.
    """
    folder = Path(run)
    if fraction is not None and not 0 <= fraction <= 1:
        raise InvalidArgumentError(f"fraction must be a share from 0 to 1, got {fraction!r}")
    threads = check_workers(workers)
    if batch_size is not None and batch_size < 1:
        raise InvalidArgumentError(f"batch_size must be a positive integer of rows, got {batch_size!r}")
    report = AuditReport(str(run), seed=check_seed(seed))
    try:
        stored = _read(folder)
    except DamagedRunError as error:
        report.found("file", str(error))
        return report
    report.images = len(stored.images)
    for text in stored.foreign:
        report.found("file", f"{text}: other readers may see other values")
    terms = None if stored.foreign else read_terms(stored, report)
    if terms is None:
        return report
    check_images(stored, report)
    check_seals(stored, report)
    with progress("proving again", len(stored.images), shown=show_progress) as show:
        check_proofs(stored, terms, report, show)
    note_versions(stored, report)
    images = find_dataset(stored, folder, dataset, None if data_dir is None else Path(data_dir), report)
    if images is not None:
        check_labels(stored, images, report)
    classifier = find_classifier(stored, terms.noise, folder, model, report)
    if fraction == 0:
        report.notes.insert(0, "no vote was drawn again, as asked")
    elif classifier is not None and images is not None:
        with _refusals(report):
            _draw_again(
                classifier,
                images,
                stored,
                terms,
                report,
                fraction=fraction,
                workers=threads,
                batch_size=batch_size,
                show_progress=show_progress,
            )
    return report


def _draw_again(
    classifier: SmoothedClassifier,
    dataset: Dataset,
    stored: StoredRun,
    terms: Terms,
    report: AuditReport,
    *,
    fraction: float | None,
    workers: int,
    batch_size: int | None,
    show_progress: bool | None,
) -> None:
    """Bind the classifier as it was and draw a share of the votes again."""
    there = [image.index for image in stored.images if 0 <= image.index < len(dataset)]
    if not there:
        return
    example = classifier.check_image(dataset.image(there[0]))
    certification = _certification(classifier, dataset, example, stored, terms, report)
    if certification is not None:
        rows = check_batch_size(batch_size, example, certification.engine)
        certification.check({there[0]: example}, batch_size=rows)
        how: dict[str, Any] = {"workers": workers, "batch_size": rows, "show_progress": show_progress}
        _redraw(certification, dataset, stored, fraction, report, **how)


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
        report.found("votes", f"its votes cannot be drawn again: {error}")


def _certification(
    classifier: SmoothedClassifier,
    dataset: Dataset,
    example: torch.Tensor,
    stored: StoredRun,
    terms: Terms,
    report: AuditReport,
) -> Certification | None:
    """Bind the classifier as the manifest says; None with a note if this machine cannot run it."""
    engine = stored.manifest["engine"]
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
        report.notes.insert(0, f"its votes cannot be drawn again here: {error}")
        return None
    if certification.engine.engine_name != engine:
        report.notes.append(f"made with engine {engine}, drawn again with {certification.engine.engine_name}")
    again = make_manifest(certification, 0, dataset, stored.manifest["indices"])
    # A run of an earlier version may lack fields that are written today; what is there must be right.
    compared = [field for field in again if field in stored.manifest and field not in _LEFT_OUT]
    then, now = ({field: side[field] for field in compared} for side in (stored.manifest, again))
    for text in differences(then, now, "{} is stored as {}, but is {}"):
        report.found("manifest", text)
    unknown = sorted(set(stored.manifest) - set(again))
    if unknown and stored.manifest.get("versions") == again["versions"]:
        report.found("manifest", f"it has fields that this version never writes: {', '.join(unknown)}")
    other = sorted(set(again) ^ set(stored.manifest))
    if other:
        report.notes.append(f"another version wrote the manifest: not compared are {', '.join(other)}")
    return certification


def _redraw(
    certification: Certification,
    dataset: Dataset,
    stored: StoredRun,
    fraction: float | None,
    report: AuditReport,
    *,
    workers: int,
    batch_size: int,
    show_progress: bool | None,
) -> None:
    """Draw a share of the votes again; images without stored votes as a whole."""
    classes, inside = certification.engine.num_classes, range(len(dataset))
    images = [image for image in stored.images if image.index in inside and _is_readable(image, classes)]
    kept = [image for image in images if image.votes]
    bare = [image for image in images if not image.votes]
    if bare and not kept:  # a run of counts alone: a share of its images, else all that lack votes
        some = choose(bare, _BARE_FRACTION if fraction is None else fraction, report.seed)
        report.unseen, bare = len(bare) - len(some), some  # counts of others may be anything that adds up
    everywhere = all_places(kept, classes)
    chosen = choose(everywhere, fraction, report.seed) if everywhere else []
    whole = [place for image in bare for place in places_of(image, certification.plan.phases, classes)]
    if bare:
        report.notes.append(
            f"votes of {len(bare):,} images are stored as counts only; they were drawn again whole"
        )
    report.all_chunks = len(everywhere) + sum(
        -(-int(i.certificate[6]) // CHUNK_VOTES) for i in images if not i.votes
    )
    one_by_one, counted = Comparison(certification, report), CountComparison(certification, bare, report)
    costs = CostComparison(certification, images, report)
    with progress("drawing votes again", len(chosen) + len(whole), shown=show_progress) as show:
        for places, comparison in ((chosen, one_by_one), (whole, counted)):
            how: dict[str, Any] = {"workers": workers, "batch_size": batch_size, "show": show}
            for place, chunk, found, evaluations in drawn_again(certification, dataset, places, **how):
                comparison.take(place, chunk, found)
                costs.take(place, evaluations)
    costs.conclude()
    counted.conclude()
    one_by_one.conclude()  # last: it judges how much both put down to rounding


def _is_readable(image: StoredImage, num_classes: int) -> bool:
    """Return whether counts and votes can be read; the proof has said so if not."""
    try:
        image.tallies()
        image.ballots(num_classes)
        int(image.certificate[6])
    except (TypeError, ValueError):
        return False
    return True
