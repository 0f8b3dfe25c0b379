"""What counts prove, a second time: by other formulas than the procedures' own, by the name of the procedure.

Tails are summed term by term instead of inverting the incomplete beta function; the e-process is integrated
numerically (Jeffreys' prior is flat in theta where p = sin^2 theta) instead of by its closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from smoothcert.bounds import binomial_law

TAIL_TOLERANCE = 1e-6  # relative, of error probabilities
_EVIDENCE_TOLERANCE = 1e-3  # relative; the quadrature is good to 1e-4
_POINTS = 2**14

Claim = tuple[int, int, float]  # votes for the class, votes drawn, probability that they are said to prove
Bound = Callable[[Mapping[str, Any], float, Claim], float | None]


def tail(successes: int, trials: int, p: float) -> float:
    """Return the chance of at least so many successes, summed term by term."""
    lowest, law = binomial_law(trials, p)
    return min(1.0, math.fsum(law[max(successes - lowest, 0) :].tolist()))


@lru_cache(maxsize=2**14)
def evidence(successes: int, trials: int, p0: float) -> float:
    """Return the e-process against p <= p0, by the midpoint rule; 0 where p0 leaves no alternative."""
    first = math.asin(math.sqrt(p0))
    theta = first + (math.pi / 2 - first) * (np.arange(_POINTS) + 0.5) / _POINTS
    p = np.sin(theta) ** 2
    failures = trials - successes
    logs = successes * (np.log(p) - math.log(p0))
    if failures:
        logs = logs + failures * (np.log1p(-p) - math.log1p(-p0))
    largest = float(logs.max())
    return math.exp(min(largest + math.log(float(np.exp(logs - largest).mean())), 700.0))


def _by_tail(level: float, claim: Claim) -> float | None:
    return None if tail(*claim) <= level * (1 + TAIL_TOLERANCE) else level


def _whole(procedure: Mapping[str, Any], alpha: float, claim: Claim) -> float | None:
    return _by_tail(alpha, claim)


def _share_of_a_stage(procedure: Mapping[str, Any], alpha: float, claim: Claim) -> float | None:
    return _by_tail(alpha / len(procedure["stages"]), claim)


def _by_evidence(procedure: Mapping[str, Any], alpha: float, claim: Claim) -> float | None:
    votes, drawn, p0 = claim
    enough = p0 <= 0 or evidence(votes, drawn, p0) >= (1 - _EVIDENCE_TOLERANCE) / alpha
    return None if enough else alpha


BOUNDS: dict[str, Bound] = {
    "fixed": _whole,
    "group": _whole,  # every look of the table spends at most alpha by itself
    "staged": _share_of_a_stage,
    "sequential": _by_evidence,
}
"""By procedure: None if counts at a deciding look prove what is claimed, else the level at which they do not.

Procedures that are not here are checked by their own code alone, and an audit says so.
"""
