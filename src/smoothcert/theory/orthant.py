"""The probability that all coordinates of a Gaussian vector are positive (Genz's separation of variables)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from smoothcert.errors import InvalidArgumentError

Floats = NDArray[np.float64]

_POINTS = 2_048
_FLAT = 1e-7  # a coordinate whose remaining deviation is below this share of its own follows from the others
_TINY = 1e-300


def orthant_probability(mean: ArrayLike, covariance: ArrayLike, *, points: int = _POINTS) -> float:
    """Return P(z > 0 in every coordinate) for Gaussian z.

    Not random: the points are a fixed lattice, so the same arguments give the same answer, good to about 1e-4 up to
    ten coordinates. One coordinate, and independent ones, are exact.

    Args:
        mean: of z, (d,).
        covariance: of z, (d, d), positive semidefinite; may be singular.
        points: lattice points.
    """
    mu, sigma = np.asarray(mean, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if mu.ndim != 1 or sigma.shape != (mu.size, mu.size) or mu.size == 0:
        raise InvalidArgumentError(
            f"mean must be (d,) and covariance (d, d), got shapes {mu.shape} and {sigma.shape}"
        )
    spread = np.sqrt(np.maximum(np.diag(sigma), 0.0))
    # The tightest condition first: what it leaves over varies least.
    order = np.argsort(mu / np.maximum(spread, _TINY), kind="stable")
    mu, spread, sigma = mu[order], spread[order], sigma[np.ix_(order, order)]
    factor = _cholesky(sigma, spread)
    uniform = _lattice(points, mu.size)
    drawn, product = np.zeros((points, mu.size)), np.ones(points)
    for i in range(mu.size):
        room = mu[i] - drawn[:, :i] @ factor[i, :i]
        if factor[i, i] == 0:  # decided by those before it
            product *= room > 0
            continue
        chance = ndtr(room / factor[i, i])
        product *= chance
        drawn[:, i] = ndtri(np.maximum(uniform[:, i] * chance, _TINY))
    return float(min(max(product.mean(), 0.0), 1.0))


def _cholesky(sigma: Floats, spread: Floats) -> Floats:
    """Return lower triangular L with L L^T = sigma; a zero on the diagonal where a coordinate adds nothing new."""
    factor = np.zeros_like(sigma)
    for i in range(len(sigma)):
        left = sigma[i, i] - factor[i, :i] @ factor[i, :i]
        if left <= (_FLAT * spread[i]) ** 2 or spread[i] == 0:
            continue
        factor[i, i] = np.sqrt(left)
        factor[i + 1 :, i] = (sigma[i + 1 :, i] - factor[i + 1 :, :i] @ factor[i, :i]) / factor[i, i]
    return factor


def _lattice(points: int, dimensions: int) -> Floats:
    """Return points in (0, 1)^d: multiples of roots of primes, folded so that the integrand becomes periodic."""
    steps = np.sqrt(np.array(_primes(dimensions), dtype=np.float64))
    places = (np.arange(1, points + 1)[:, None] * steps + 0.5) % 1.0
    return np.asarray(np.clip(np.abs(2 * places - 1), 1e-16, 1 - 1e-16))


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes
