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
from smoothcert.workflows.auditing.replay import Replay
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
    replay = Replay(procedure.plan(noise, alpha), classifier.num_classes)
    for row, counts in found.images:
        where, image = f"image {row.idx}", StoredImage(row, tuple(counts), (), None)
        if row.label != int(test.labels[row.idx]):
            yield f"{where}: its label is {int(test.labels[row.idx])}"
        tallies = image.tallies(classifier.num_classes)
        faults = [*replay.differences_from_counts(image, tallies)]
        faults += contradictions(noise, about, alpha, row, tallies)  # by second formulas
        yield from (f"{where}: {fault}" for fault in faults)
