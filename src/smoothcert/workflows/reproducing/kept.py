"""Rows of a table that were certified before and kept as texts: taken only if they are what the row would be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from smoothcert.certificates import Procedure, SmoothedClassifier, ensemble_records, identities
from smoothcert.data import Dataset
from smoothcert.errors import DamagedRunError
from smoothcert.networks import precision_of
from smoothcert.sampling import CHUNK_VOTES
from smoothcert.store import FORMAT, PortableRun, Run, check_same, plain, read_portable
from smoothcert.workflows.auditing.independent import contradictions
from smoothcert.workflows.auditing.stored import StoredImage

_OF_THE_MACHINE = frozenset({"engine", "versions", "packages", "source"})
"""Fields of a manifest that say by what, and not what."""


def read_kept(
    file: Path,
    classifier: SmoothedClassifier,
    test: Dataset,
    indices: list[int],
    *,
    procedure: Procedure,
    alpha: float,
    seed: int,
) -> Run:
    """Return certificates that were kept; refuse those of another row, and those that their own counts do not prove.

    Not an audit: counts are believed, because the votes behind them are not kept.

    Args:
        file: that keeps them.
        classifier: which the row is about.
        test: images and labels.
        indices: of the images.
        procedure: how they are certified.
        alpha: error probability per image.
        seed: of the noise.
    """
    found = read_portable(file)
    wanted = _manifest(classifier, test, procedure, alpha, seed)
    stored = {field: value for field, value in found.run.manifest.items() if field not in _OF_THE_MACHINE}
    check_same(stored, {**wanted, "indices": indices}, str(file), "use")
    for fault in _faults(found, classifier, test, procedure, alpha):
        raise DamagedRunError(
            f"{file} was changed after it was written ({fault}); remove it and certify again"
        )
    return found.run


def _manifest(
    classifier: SmoothedClassifier, test: Dataset, procedure: Procedure, alpha: float, seed: int
) -> Mapping[str, Any]:
    """Return what the manifest of the row would say, but for what depends on the machine.

    Not `make_manifest`, which wants an engine that runs the network: kept rows are read where there is none.
    """
    noise, precision = classifier.noise.for_shape(test.input_shape), precision_of(classifier.model)
    ensemble = ensemble_records(classifier.model)[0]
    return {
        "format": FORMAT,
        "model": identities(classifier.model)[0],
        **({} if ensemble is None else {"ensemble": plain(ensemble)}),
        "num_classes": classifier.num_classes,
        **({} if precision is None else {"precision": precision}),
        "noise": plain(noise.describe()),
        "norm": noise.norm,
        "procedure": plain(procedure.describe()),
        "alpha": alpha,
        "on_nan": classifier.on_nan,
        "seed": str(seed),
        "chunk_votes": CHUNK_VOTES,
        "dataset": plain(test.record),
        "input_shape": list(test.input_shape),
        "class_names": list(test.class_names),
    }


def _faults(
    found: PortableRun, classifier: SmoothedClassifier, test: Dataset, procedure: Procedure, alpha: float
) -> Iterator[str]:
    noise, about = classifier.noise.for_shape(test.input_shape), found.run.manifest["procedure"]
    phases = procedure.plan(noise, alpha).phases
    looks, most = {one.name: set(one.looks) for one in phases}, sum(one.votes for one in phases)
    for row, counts in found.images:
        where = f"image {row.idx}"
        if row.label != int(test.labels[row.idx]):
            yield f"{where}: its label is {int(test.labels[row.idx])}"
        if any(one.drawn not in looks.get(one.phase, ()) for one in counts):
            yield f"{where}: its counts are of looks that the procedure does not have"
        last = {one.phase: one.drawn for one in counts}
        if not sum(last.values()) <= row.samples <= most:  # stages that decided nothing have no counts
            yield f"{where}: {row.samples} votes are not what its counts, or the procedure, have"
        tallies = StoredImage(row, tuple(counts), (), None).tallies(classifier.num_classes)
        yield from (f"{where}: {fault}" for fault in contradictions(noise, about, alpha, row, tallies))
