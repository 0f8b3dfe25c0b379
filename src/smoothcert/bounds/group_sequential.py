"""Exact group-sequential boundary: every look spends a set share of alpha, computed count by count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothcert.bounds.boundary import Boundary, Floats, Ints, binomial_law, trim_law
from smoothcert.bounds.clopper_pearson import check_level
from smoothcert.errors import InvalidArgumentError

EARLY_SHARE = 0.2  # of alpha for all looks but the last; the rest is kept for the last look
_ROUNDING = 1e-9  # relative; hundreds of convolutions of positive numbers lose less than 1e-11


@dataclass(frozen=True, eq=False)
class SpendingTable:
    """A boundary with proof of its error: `error` is what it spends at p0, rounding charged, <= alpha."""

    boundary: Boundary
    error: float


def final_votes(n: int, alpha: float) -> int:
    """Return the votes at the last look that make up for the alpha spent before: CERTIFY's largest radius.

    With all votes for the class a bound at level a reaches a^(1/N), so N ln(1/alpha) = n ln(1/(.8 alpha)).
    """
    return math.ceil(n * (1 + math.log(1 / (1 - EARLY_SHARE)) / math.log(1 / alpha)))


def geometric_looks(last: int, border: int = 1) -> tuple[int, ...]:
    """Return looks floor(1.1^k) + 1 from 3 votes on, moved up to multiples of `border`, and `last`."""
    top = math.ceil(math.log(max(last, 2)) / math.log(1.1))
    raw = (math.floor(1.1**k) + 1 for k in range(11, top + 1))
    return (*sorted({-(-n // border) * border for n in raw if -(-n // border) * border < last}), last)


@lru_cache(maxsize=64)
def group_sequential_table(looks: tuple[int, ...], p0: float, alpha: float, beta: float) -> SpendingTable:
    """Return the boundary that certifies p > p0 with error at most alpha, spent over the looks.

    A fifth of alpha goes to the looks before the last by weights falling like 1/k^2, unspent budget carries
    over, the last look gets what is left. Giving up is not counted on (non-binding): the error holds even if
    one goes on after it. It errs with probability at most beta for every p >= p0.

    Args:
        looks: cumulative votes at each look, increasing.
        p0: the probability to exceed, in (0, 1).
        alpha: error probability of a false certificate.
        beta: error probability of giving up although p >= p0.
    """
    check_level("alpha", alpha)
    check_level("beta", beta)
    count = np.arange(len(looks))
    weights = 1.0 / ((count + 5) * (count + 6))
    early = np.cumsum(weights[:-1]) / max(weights[:-1].sum(), 1e-300)
    budgets = np.append(EARLY_SHARE * alpha * early, alpha)
    certify = _upper_counts(looks, p0, budgets)
    # Failures of a coin with 1 - p0 mirror successes: giving up is crossing upward in failures.
    failures = _upper_counts(looks, 1 - p0, beta * np.cumsum(weights) / weights.sum())
    n = np.asarray(looks, dtype=np.int64)
    error = crossing_probability(n, certify, p0)
    if error > alpha:
        raise InvalidArgumentError(
            f"alpha={alpha:g} is too small for a group-sequential table at p0={p0:g}: rounded it spends {error:g}; "
            "use a larger alpha or another procedure"
        )
    return SpendingTable(Boundary(looks=n, certify=certify, abandon=n - failures), error)


def _upper_counts(looks: tuple[int, ...], p0: float, budgets: Floats) -> Ints:
    """Return the smallest counts whose first-crossing mass, summed up, stays within the budgets at p0."""
    low, law, seen, spent = 0, np.ones(1), 0, 0.0
    counts = np.empty(len(looks), dtype=np.int64)
    for k, n in enumerate(looks):
        shift, kernel = binomial_law(n - seen, p0)
        before = law.sum()
        law, low, seen = np.convolve(law, kernel), low + shift, n
        spent += max(before - law.sum(), 0.0)
        tail = np.cumsum(law[::-1])[::-1]  # tail[i]: mass at count low + i or more
        fits = np.flatnonzero(spent + tail * (1 + _ROUNDING) <= budgets[k])
        first = int(fits[0]) if fits.size else law.size
        counts[k] = min(low + first, n + 1)
        if first < law.size:
            spent += float(tail[first]) * (1 + _ROUNDING)
        low, law, cut = trim_law(low, law[:first])
        spent += cut
    return counts


def crossing_probability(looks: NDArray[np.int64], certify: NDArray[np.int64], p: float) -> float:
    """Return an upper bound, tight to 1e-9, on the chance ever to reach `certify` at success probability p.

    The second, independent way: backward over the chance to cross from each count, where `_upper_counts` goes
    forward over the law of the count. Counts below a look's window are given the chance of its lowest count,
    which is larger.
    """
    spread = 10 * np.sqrt(looks * p * (1 - p)) + 60
    lowest = np.maximum(np.floor(looks * p - spread), 0).astype(np.int64)
    chance = np.empty(0)  # from counts lowest[k] .. certify[k] - 1 at look k; certain above
    start = 0
    for k in range(len(looks) - 1, -1, -1):
        step = int(looks[k] - (looks[k - 1] if k else 0))
        shift, kernel = binomial_law(step, p)
        origin = min(int(lowest[k - 1]), int(certify[k - 1]) - 1) if k else 0
        size = int(certify[k - 1]) - origin if k else 1
        reach = origin + shift + np.arange(size + kernel.size - 1)
        here = np.ones(reach.size)
        if chance.size == 0:
            here[reach < certify[k]] = 0.0
        else:
            inside = reach < certify[k]
            here[inside] = chance[np.maximum(reach[inside] - start, 0)]
        chance, start = np.correlate(here, kernel, mode="valid") + (1 - min(kernel.sum(), 1.0)), origin
    return float(chance[0]) * (1 + _ROUNDING)
