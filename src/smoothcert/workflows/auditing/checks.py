"""Checks that need nothing but the run folder: images, seals, and the proof of every certificate."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from smoothcert.amounts import amount
from smoothcert.data import Dataset
from smoothcert.progress import Progress
from smoothcert.store import FILE_NAME, package_versions
from smoothcert.workflows.auditing.independent import contradictions, without_second_formula
from smoothcert.workflows.auditing.kinds import wrong_kinds
from smoothcert.workflows.auditing.replay import Replay
from smoothcert.workflows.auditing.report import AuditReport
from smoothcert.workflows.auditing.stored import StoredRun, Stream
from smoothcert.workflows.auditing.terms import Terms

_LISTED = 5
_PACKAGES = ("smoothcert", "torch", "numpy", "scipy")
_RUNTIMES = ("onnxruntime", "openvino")  # where an engine calculates by one


def check_images(stored: StoredRun, report: AuditReport) -> None:
    """Hold the stored images against the manifest's list."""
    listed, there = stored.listed, [image.index for image in stored.images]
    failed = [row.idx for row in stored.failures]
    for title, found in (
        (
            "missing: the run is unfinished (continue it with --resume), or they were removed",
            set(listed) - set(there) - set(failed),
        ),
        ("with a certificate, that also failed", set(failed) & set(there)),
        ("that failed, but are not listed in the manifest", set(failed) - set(listed)),
        ("stored, but not listed in the manifest", set(there) - set(listed)),
        ("without a certificate, but with counts, votes or a seal", set(stored.strays)),
        (
            "with a certificate and a state of being under way: the run was stopped (continue it with --resume), or "
            "the states were added",
            set(stored.unfinished) & set(there),
        ),
        ("under way, but not listed in the manifest", set(stored.unfinished) - set(listed)),
    ):
        if found:
            some = _some(sorted(found, key=lambda index: (str(type(index)), index)))
            report.add_finding("images", f"images {title}: {len(found):,} of them ({some})")
    if len(set(listed)) != len(listed):
        report.add_finding("images", "the manifest lists an image twice")
    if failed:
        report.failed = len(failed)
        report.note(
            f"the model failed on {amount(len(failed), 'image')} ({_some(failed)}), by the run's own word: they have "
            "no certificate, and whoever counts certified images has to count them too"
        )
    if stored.share is not None:
        report.share = str(stored.share)
        report.note(
            f"this is shard {stored.share} of a plan, {len(listed):,} of its "
            f"{amount(len(stored.manifest['indices']), 'image')}"
        )


def check_seals(stored: StoredRun, report: AuditReport) -> None:
    """Hold every image against its seal."""
    broken = [image.index for image in stored.images if image.seal not in (None, stored.seal_of(image))]
    if broken and len(broken) == len(stored.images):
        gone = "" if any(image.votes for image in stored.images) else "; all votes are gone"
        report.add_finding(
            "manifest", f"the manifest, or every image, was changed after it was written (no seal fits){gone}"
        )
    else:
        for index in broken:
            report.add_finding("seal", "something stored about it was changed after it was written", index)
    for image in stored.images:
        if image.seal is None:
            report.add_finding("seal", "its seal is missing", image.index)


def check_proofs(stored: StoredRun, terms: Terms, report: AuditReport, show: Progress) -> list[Stream]:
    """Make every certificate again from its stored votes, and its bound by an independent formula.

    Returns:
        what votes can be read, for drawing them again.
    """
    for text in without_second_formula(terms.noise, stored.manifest["procedure"]):
        report.replayed_only(text)
    replay, streams = Replay(terms.plan, terms.num_classes), list[Stream]()
    for done, image in enumerate(stored.images, start=1):
        texts = list(wrong_kinds(image, terms.num_classes))
        if not texts:
            try:
                tallies = image.tallies(terms.num_classes)
                log = image.vote_log(terms.num_classes, replay.most_votes)
            except ValueError as error:
                texts = [f"its counts or votes cannot be read: {error}"]
            else:
                streams += [Stream(image, phase, len(cast)) for phase, cast in log.items()]
                texts = list(replay.differences(image, tallies, log))
                if not texts:  # a second opinion on what the first finds right
                    about = stored.manifest["procedure"]
                    texts = contradictions(terms.noise, about, terms.alpha, image.certificate, tallies)
                _check_unanswered(replay.unanswered(log), terms, report, image.index)
        for text in texts:
            report.add_finding("proof", text, image.index)
        show(done, f"{len(report.findings)} findings")
    if replay.stopped:
        report.note(
            f"{len(replay.stopped):,} of the certificates end where whoever asked for them stopped: an anytime radius "
            "holds at every look"
        )
    return streams


def _check_unanswered(votes: int, terms: Terms, report: AuditReport, index: int) -> None:
    """Hold votes without an answer against what the manifest says is done with them."""
    report.unanswered += votes
    if votes and terms.on_nan == "raise":
        report.add_finding(
            "proof",
            f"{votes:,} of its votes have no answer, which on_nan = 'raise' would have refused",
            index,
        )


def check_labels(stored: StoredRun, dataset: Dataset, report: AuditReport) -> None:
    """Hold stored labels against the data set's."""
    for image in stored.images:
        label = int(dataset.labels[image.index]) if 0 <= image.index < len(dataset) else None
        if image.certificate.label != label:
            report.add_finding(
                "label", f"its label is stored as {image.certificate.label!r}, but it is {label}", image.index
            )


def note_versions(stored: StoredRun, report: AuditReport) -> None:
    """Note releases that differ from today's: they may round differently."""
    versions = stored.manifest["versions"]
    then = {name: versions[name] for name in (*_PACKAGES, *_RUNTIMES) if name in versions}
    for (_, _, package), its_version in package_versions(stored.manifest.get("packages")).items():
        then[package] = its_version
    here = {name: _version_here(name) for name in then}
    other = [f"{name} {then[name]} (here {here[name]})" for name in then if here[name] != then[name]]
    if other:
        report.note(f"the run was made with {', '.join(other)}")


def _version_here(package: str) -> str:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError):  # of an engine, say, that is not used here
        return "none"


def note_logs(folder: Path, report: AuditReport) -> None:
    """Note what lies beside the database and changes what is read: a copy of the one file would say something else."""
    for suffix in ("-wal", "-journal"):
        log = folder / f"{FILE_NAME}{suffix}"
        if log.exists() and log.stat().st_size:
            report.note(f"{log.name} lies beside {FILE_NAME} and was read with it; copy both or neither")


def _some(indices: Sequence[Any]) -> str:
    more = "" if len(indices) <= _LISTED else ", .."
    return ", ".join(map(repr, indices[:_LISTED])) + more
