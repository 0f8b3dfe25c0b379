"""What can be attacked: arguments refused by name, and the run whose certificates are put to the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smoothcert.arguments import check_kind, check_whole, is_number
from smoothcert.certificates import MOST_RADII, MOST_RADIUS, SmoothedClassifier, identities
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw, noise_from
from smoothcert.radii import named_radii
from smoothcert.store import Run
from smoothcert.visible import brief

MOST_STEPS = 100_000
"""Of an attack's gradient steps, and of the noises that each follows."""


def check_numbers(radii: float | Sequence[float], steps: int | None, m: int) -> None:
    """Refuse radii, steps and numbers of noises that are none."""
    given = radii.tolist() if isinstance(radii, np.ndarray) else radii
    given = [given] if isinstance(given, int | float) else given
    if (
        not isinstance(given, list | tuple | range)
        or len(given) > MOST_RADII
        or not all(is_number(value, 0, MOST_RADIUS) for value in given)
    ):
        raise InvalidArgumentError(
            f"radii must be finite numbers >= 0 in pixel units, at most {MOST_RADII} of them, got {brief(given)}"
        )
    for name, value in (("steps", 1 if steps is None else steps), ("m", m)):
        check_whole(name, value, 1, MOST_STEPS, what=f"a positive integer, at most {MOST_STEPS:,}")


def check_norms(noise: NoiseLaw, run: Run | None) -> None:
    """Refuse what cannot be attacked in l2."""
    norms = {"the noise": noise.norm, "the run": noise.norm if run is None else run.manifest["norm"]}
    for what, norm in norms.items():
        if norm != "l2":
            raise InvalidArgumentError(
                f"the attack measures l2 distance, but {what} is about {norm}; attack a classifier with l2 noise"
            )


def engine_for(engine: str | None, run: Run | None, stored: Mapping[str, Any] | None) -> str:
    """Return the engine for PREDICT; refuse another one than that of the certificates.

    Args:
        engine: what was asked for; None and "auto" leave it open.
        run: the certificates, if any.
        stored: settings of the attack to continue: what is left open stays as it was.
    """
    if engine is not None:
        check_kind("engine", engine, str, "the name of an engine, or auto")
    if run is None:
        known = "auto" if stored is None else str(stored["engine"])
        return known if engine in (None, "auto") else engine
    made = str(run.manifest["engine"])
    if engine not in (None, "auto", made):
        raise InvalidArgumentError(
            f"engine must be {made!r}, by which the run was made, got {engine!r}; leave it out, or certify again"
        )
    return made


def _named(noise: NoiseLaw) -> str:
    """Return the law and what it is chosen by; the dimension, which a run adds, follows from the images."""
    return ", ".join([noise.law_name, *(f"{name} {value}" for name, value in noise.option_values().items())])


def certified_by(
    run: Run, classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]
) -> dict[int, tuple[int, float]]:
    """Return class and radius of the run's certified images; refuse a run about anything else."""
    for what, stored, attacked in (
        ("model", run.manifest["model"], identities(classifier.model)[0]),
        ("data set", run.manifest["dataset"]["digest"], dataset.digest),
        ("noise", _named(noise_from(run.manifest["noise"])), _named(classifier.noise)),
        ("way with answers that are no number", run.manifest["on_nan"], classifier.on_nan),
    ):
        if stored != attacked:
            raise InvalidArgumentError(
                f"the run is about another {what} ({stored}) than what is attacked ({attacked}); give the run of what "
                "is attacked, or attack what the run is about"
            )
    columns = zip(run.column("idx"), run.column("predicted"), run.column("radius"), strict=True)
    known = {idx: None if predicted is None else (predicted, radius) for idx, predicted, radius in columns}
    missing = [index for index in indices if index not in known]
    if missing:
        raise InvalidArgumentError(
            f"image {missing[0]} is not in the run; attack the run's images (leave the choice out) or finish the run"
        )
    return {index: pair for index in indices if (pair := known[index]) is not None}


def about_certificates(run: Run | None) -> dict[str, Any]:
    """Return what an attack's settings say about the run whose certificates it tests; None for each without one."""
    proof = {"certified_alpha": "alpha", "certified_seed": "seed"}
    known = {name: None if run is None else run.manifest[field] for name, field in proof.items()}
    reach = None if run is None else run.reach
    known["certified_largest"] = None if reach is None else reach.largest
    known["certified_radii"] = (
        None if reach is None or reach.asked is None else named_radii(reach.asked).tolist()
    )
    return known
