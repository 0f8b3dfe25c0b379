"""The price of letting the votes that bound a class also choose it."""

from __future__ import annotations

import numpy as np

from smoothcert.bounds.boundary import Boundary


def shared_vote_level(boundary: Boundary, p0: float, alpha: float) -> float:
    """Return the level alpha' at which to test so that choosing the class by the same votes costs alpha in all.

    A class that crosses has more than half of the votes, so a wrong one has true probability at most 1 - p0
    (or all are at most p0 and the classes beside the largest share 1 - p0; the crossing chance is convex
    there). By change of measure that crossing has at most alpha' * max_k ((1-p0)/p0)^(2 U_k - n_k), where U_k
    is the certifying count of look k: at most the likelihood ratio at a crossing, times the chance at p0.

    Args:
        boundary: the boundary at level alpha; at the smaller level it is nowhere lower.
        p0: smallest probability that is to be exceeded, above 1/2.
        alpha: error probability of the whole; 0 is returned where the charge would eat all of it.
    """
    reachable = boundary.certify <= boundary.looks
    excess = (2 * boundary.certify - boundary.looks)[reachable]
    if excess.size == 0:
        return alpha
    charge = np.exp(excess.min() * np.log((1 - p0) / p0))
    return max(
        float(np.nextafter(alpha * (1 - charge), 0.0)), 0.0
    )  # down: a charge below one ulp is paid too
