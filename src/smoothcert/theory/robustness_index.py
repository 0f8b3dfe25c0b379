"""The gamma-robustness index (Liu et al. 2020): the mean over images of gamma(certified radius).

gamma(r) = 1 for r >= R gives certified accuracy at R, gamma(r) = r the ACR, and the volume of the ball of radius r the
mean certified volume. That volume leaves the range of floats in a few hundred dimensions, so it is kept in logs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logsumexp

from smoothcert.certificates import Results
from smoothcert.errors import InvalidArgumentError

Floats = NDArray[np.float64]
Gamma = Callable[[Floats], Floats]


def robustness_index(results: Results, gamma: Gamma) -> float:
    """Return the mean of gamma over images; an image that is wrong or abstained counts 0, not gamma(0).

    Args:
        results: certificates of at least one image.
        gamma: from radii in pixel units to what they are worth.
    """
    _check(results)
    return float(np.asarray(gamma(results.radius[results.correct]), dtype=np.float64).sum() / len(results))


def reaches(radius: float) -> Gamma:
    """Return the gamma of certified accuracy: 1 where a radius is at least `radius`."""
    return lambda radii: (radii >= radius).astype(np.float64)


def length(radii: Floats) -> Floats:
    """Be the gamma of the ACR: the radius itself."""
    return radii


def log_ball_volume(radius: ArrayLike, dimension: int) -> Floats:
    """Return ln(pi^(d/2) r^d / Gamma(d/2 + 1)), the log volume of an l2 ball; -inf at radius 0.

    Args:
        radius: in pixel units, >= 0.
        dimension: d, the number of values of an image.
    """
    r = np.asarray(radius, dtype=np.float64)
    if not (r >= 0).all() or dimension < 1:
        raise InvalidArgumentError(f"need radius >= 0 and dimension >= 1, got {radius!r} and {dimension!r}")
    with np.errstate(divide="ignore"):
        return np.asarray(dimension * (np.log(np.pi) / 2 + np.log(r)) - gammaln(dimension / 2 + 1))


def log_mean_volume(results: Results, dimension: int) -> float:
    """Return the log of the mean certified volume; -inf if nothing is certified.

    Args:
        results: certificates of at least one image, radii in l2.
        dimension: number of values of an image.
    """
    _check(results)
    volumes = log_ball_volume(results.radius[results.correct], dimension)
    if not np.isfinite(volumes).any():
        return -np.inf
    return float(logsumexp(volumes) - np.log(len(results)))


def _check(results: Results) -> None:
    if not len(results):
        raise InvalidArgumentError("an index needs certificates of at least one image, got none")
