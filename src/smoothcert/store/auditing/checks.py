"""Checks that need nothing but the run folder: manifest, images, seals, and the proof of every certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from smoothcert.certificates import PROCEDURES, Plan, Procedure
from smoothcert.data import Dataset
from smoothcert.errors import SmoothcertError
from smoothcert.execution.progress import Progress
from smoothcert.noise import NoiseLaw, noise_from
from smoothcert.sampling import CHUNK_VOTES, ON_NAN
from smoothcert.seeding import check_seed
from smoothcert.store.auditing.independent import contradictions
from smoothcert.store.auditing.replay import Replay
from smoothcert.store.auditing.report import AuditReport
from smoothcert.store.auditing.stored import StoredRun
from smoothcert.store.manifest import FORMAT

_LISTED = 5
_PACKAGES = ("smoothcert", "torch", "numpy", "scipy")


@dataclass(frozen=True)
class Terms:
    """What the manifest says the run did, as things that can be run."""

    noise: NoiseLaw
    procedure: Procedure
    plan: Plan
    alpha: float
    seed: int


def read_terms(stored: StoredRun, report: AuditReport) -> Terms | None:
    """Turn the manifest into what it describes; None with a finding if it describes nothing."""
    manifest = stored.manifest
    try:
        noise = noise_from(dict(manifest["noise"]))
        about = {key: value for key, value in dict(manifest["procedure"]).items() if key != "name"}
        procedure = PROCEDURES[manifest["procedure"]["name"]](**about)
        alpha, seed = float(manifest["alpha"]), check_seed(int(manifest["seed"]))
        plan = procedure.plan(noise, alpha)
        expected = {"format": FORMAT, "chunk_votes": CHUNK_VOTES, "norm": noise.norm}
        for field, value in expected.items():
            if manifest[field] != value:
                report.found("manifest", f"{field} is {manifest[field]!r}, expected {value!r}")
        _check_kinds(manifest)
    except (SmoothcertError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        report.found("manifest", f"the manifest describes no run ({type(error).__name__}: {error})")
        return None
    return Terms(noise, procedure, plan, alpha, seed)


def _check_kinds(manifest: Mapping[str, Any]) -> None:
    """Raise KeyError or ValueError where a field that is used later is missing or of another kind."""
    texts = {"model": manifest["model"], "engine": manifest["engine"]}
    texts.update({f"dataset.{part}": manifest["dataset"][part] for part in ("name", "split", "digest")})
    for field, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"{field} is {text!r}, expected a text")
    if manifest["on_nan"] not in ON_NAN:
        raise ValueError(f"on_nan is {manifest['on_nan']!r}, expected one of {', '.join(ON_NAN)}")
    indices, classes = manifest["indices"], manifest["num_classes"]
    if not isinstance(indices, list) or not all(isinstance(index, int) for index in indices):
        raise ValueError("indices are no list of numbers")
    if not isinstance(classes, int) or classes < 2:
        raise ValueError(f"num_classes is {classes!r}, expected a number of at least 2")


def check_images(stored: StoredRun, report: AuditReport) -> None:
    """Hold the stored images against the manifest's list."""
    listed, there = stored.manifest["indices"], [image.index for image in stored.images]
    for title, found in (
        (
            "missing: the run is unfinished (continue it with --resume), or they were removed",
            set(listed) - set(there),
        ),
        ("stored, but not listed in the manifest", set(there) - set(listed)),
        ("without a certificate, but with counts or votes", set(stored.strays)),
    ):
        if found:
            report.found("images", f"images {title}: {len(found):,} of them ({_some(sorted(found))})")
    if len(set(listed)) != len(listed):
        report.found("images", "the manifest lists an image twice")


def check_seals(stored: StoredRun, report: AuditReport) -> None:
    """Hold every image against its seal; an older run has none, and then votes are not stored either."""
    broken = [image.index for image in stored.images if image.seal not in (None, stored.seal_of(image))]
    unsealed = [image.index for image in stored.images if image.seal is None and image.votes]
    if broken and len(broken) == len(stored.images):
        gone = "" if any(image.votes for image in stored.images) else "; all votes are gone"
        report.found(
            "manifest", f"the manifest, or every image, was changed after it was written (no seal fits){gone}"
        )
    else:
        for index in broken:
            report.found("seal", "something stored about it was changed after it was written", index)
    for index in unsealed:
        report.found("seal", "its seal is missing", index)


def check_proofs(stored: StoredRun, terms: Terms, report: AuditReport, show: Progress) -> None:
    """Make every certificate again from its stored votes, and its bound by an independent formula."""
    replay = Replay(terms.plan, int(stored.manifest["num_classes"]))
    for done, image in enumerate(stored.images, start=1):
        texts: list[str] = []
        try:
            texts += replay.differences(image)
            texts += contradictions(
                terms.noise, stored.manifest["procedure"], terms.alpha, image.certificate, image.tallies()
            )
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:  # values of another kind
            texts.append(f"its certificate cannot be made again ({type(error).__name__}: {error})")
        for text in texts:
            report.found("proof", text, image.index)
        show(done, f"{len(report.findings)} findings")


def check_labels(stored: StoredRun, dataset: Dataset, report: AuditReport) -> None:
    """Hold stored labels against the data set's."""
    for image in stored.images:
        label = int(dataset.labels[image.index]) if 0 <= image.index < len(dataset) else None
        if image.certificate[1] != label:
            report.found(
                "label", f"its label is stored as {image.certificate[1]}, but it is {label}", image.index
            )


def note_versions(stored: StoredRun, report: AuditReport) -> None:
    """Note releases that differ from today's: they may round differently."""
    known = stored.manifest.get("versions")
    old = {name: known[name] for name in _PACKAGES if name in known} if isinstance(known, dict) else {}
    other = [f"{name} {text} (here {version(name)})" for name, text in old.items() if version(name) != text]
    if other:
        report.notes.append(f"the run was made with {', '.join(other)}")


def _some(indices: Sequence[int]) -> str:
    more = "" if len(indices) <= _LISTED else ", .."
    return ", ".join(map(str, indices[:_LISTED])) + more
