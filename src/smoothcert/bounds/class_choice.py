"""The price of letting the votes that bound a class also choose it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smoothcert.bounds.boundary import Boundary
from smoothcert.errors import InvalidArgumentError


def wrong_class_factor(boundary: Boundary, p0: float) -> float:
    """Return how many times alpha a second class adds to the chance of a false certificate.

    A class that crosses has more than half of the votes. If the leading class has probability above p0, any
    other has less than 1 - p0; if all have at most p0, those beside the largest share 1 - p0 (the crossing
    chance is convex there). By change of measure the chance at 1 - p0 is the chance at p0 times at most
    max_k ((1-p0)/p0)^(2 U_k - n_k), the likelihood ratio where look k certifies with U_k of n_k votes.

    Args:
        boundary: certifies p > p0.
        p0: smallest probability that is to be exceeded, at least 1/2.
    """
    reachable = boundary.certify <= boundary.looks
    excess = (2 * boundary.certify - boundary.looks)[reachable]
    return float(np.exp(excess.min() * np.log((1 - p0) / p0))) if excess.size else 0.0


def shared_vote_level(make: Callable[[float], Boundary], p0: float, alpha: float) -> float:
    """Return the level to test at so that choosing the class by the same votes costs alpha in all.

    Verified on the boundary of the very level that is returned, because a group-sequential boundary need not
    rise everywhere as its level falls.

    Args:
        make: makes the boundary of a level.
        p0: smallest probability that is to be exceeded, at least 1/2.
        alpha: error probability of the whole.
    """
    level = alpha
    for _ in range(20):
        factor = wrong_class_factor(make(level), p0)
        if level * (1 + factor) < alpha:
            return level
        level = float(np.nextafter(min(alpha / (1 + factor), level) * (1 - 1e-12), 0.0))
    raise InvalidArgumentError(
        f"no level pays for choosing the class by the same votes at p0={p0:g}, alpha={alpha:g}; give n0, such as n0=100"
    )
