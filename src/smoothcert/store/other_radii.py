"""Radii that a run's votes prove beside the stored ones: by the default bound, or in another norm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.bounds import clopper_pearson_lower
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import noise_from, radius_in_norm
from smoothcert.sampling import Counts


def default_radii(
    manifest: Mapping[str, Any], chosen: Sequence[int], estimates: Sequence[Counts]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return (class or -1, radius) by the default bound for a run that bounds the runner-up.

    Each of the two radii errs with probability at most alpha; the larger of both would err more often.

    Args:
        manifest: what identifies the run.
        chosen: the class that the selecting votes chose, by image.
        estimates: counts of the bounding votes, by image.
    """
    votes = [int(counts.votes[c]) for c, counts in zip(chosen, estimates, strict=True)]
    drawn = [counts.drawn for counts in estimates]
    p_lower = np.atleast_1d(clopper_pearson_lower(votes, drawn, manifest["alpha"]))
    radius = np.atleast_1d(noise_from(manifest["noise"]).radius(p_lower))
    if "norm_of_noise" in manifest:
        radius = np.atleast_1d(converted(radius, manifest, manifest["norm_of_noise"], manifest["norm"]))
    return np.where(p_lower > 0.5, chosen, -1), radius


def in_norm(manifest: Mapping[str, Any], norm: str) -> dict[str, Any]:
    """Return a manifest whose radii are in another norm; the noise keeps its own, as "norm_of_noise".

    The procedure as it was carried out stays as "procedure_of_noise": thresholds are those of its radii.
    """
    source = manifest.get("norm_of_noise", manifest["norm"])
    carried_out = manifest.get("procedure_of_noise", manifest["procedure"])
    procedure = dict(manifest["procedure"])
    for key in ("radius", "radii"):  # what was asked for, so that tables show it where it was proven
        if procedure.get(key) is not None:
            procedure[key] = converted(procedure[key], manifest, manifest["norm"], norm)
            procedure[key] = procedure[key].tolist() if key == "radii" else procedure[key]
    return {
        **manifest,
        "norm": norm,
        "norm_of_noise": source,
        "procedure": procedure,
        "procedure_of_noise": carried_out,
    }


def converted(radius: Any, manifest: Mapping[str, Any], source: str, target: str) -> Any:
    """Return radii of a run in another norm, by the number of coordinates that its images have."""
    if "input_shape" not in manifest:
        raise InvalidArgumentError(
            "this run was made by an earlier version and does not tell the size of its images, so its radii cannot "
            "be given in another norm; certify again"
        )
    return radius_in_norm(radius, source, target, math.prod(manifest["input_shape"]))
