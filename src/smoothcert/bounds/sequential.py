"""Anytime-valid test and confidence sequence for a probability (a truncated-Jeffreys e-process).

Against H0: p <= p0 the alternative is Jeffreys' prior cut to (p0, 1); the marginal likelihood over p0's
likelihood is a supermartingale under every p <= p0, so by Ville's inequality it ever reaches 1/alpha with
probability at most alpha: it may be looked at after every vote.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaln, xlogy

from smoothcert.bounds.boundary import Boundary, first_true
from smoothcert.bounds.clopper_pearson import check_level

Floats = NDArray[np.float64]


def log_evidence_above(successes: ArrayLike, trials: ArrayLike, p0: ArrayLike) -> Floats:
    """Return ln E_n, the evidence against p <= p0 after `trials` votes; may be looked at any time.

    Certify when it reaches ln(1/alpha). Not a p-value: large is evidence.
    """
    return _log_evidence(successes, trials, p0, upper=True)


def log_evidence_below(successes: ArrayLike, trials: ArrayLike, p0: ArrayLike) -> Floats:
    """Return the mirror image of `log_evidence_above`: the evidence against p >= p0."""
    return _log_evidence(successes, trials, p0, upper=False)


def _log_evidence(successes: ArrayLike, trials: ArrayLike, p0: ArrayLike, *, upper: bool) -> Floats:
    """Compute in logs, with a slack for rounding taken off so that the evidence is never overstated."""
    a, n, p = (np.asarray(v, dtype=np.float64) for v in (successes, trials, p0))
    b = n - a
    # 1 - I_p(x, y) = I_{1-p}(y, x): asked for directly, because the difference loses all digits near 1.
    if upper:
        posterior, prior = betainc(b + 0.5, a + 0.5, 1 - p), betainc(0.5, 0.5, 1 - p)
    else:
        posterior, prior = betainc(a + 0.5, b + 0.5, p), betainc(0.5, 0.5, p)
    with np.errstate(divide="ignore"):
        marginal = betaln(a + 0.5, b + 0.5) + np.log(posterior) - math.log(math.pi) - np.log(prior)
    likelihood = xlogy(a, p) + xlogy(b, 1 - p)
    # Each term is at most about 40 n in size, so its rounding error is below 1e-14 n.
    return np.asarray(marginal - likelihood - (1e-10 + 1e-13 * n))


@lru_cache(maxsize=64)
def sequential_boundary(looks: tuple[int, ...], p0: float, alpha: float, beta: float) -> Boundary:
    """Return the counts at which the e-process certifies p > p0 (error alpha) or gives up (error beta).

    Args:
        looks: cumulative votes at each look, increasing.
        p0: the probability to exceed, in (0, 1).
        alpha: error probability of a false certificate.
        beta: error probability of giving up although p >= p0.
    """
    check_level("alpha", alpha)
    check_level("beta", beta)
    n = np.asarray(looks, dtype=np.int64)
    none, centre = n + 1, np.floor(n * p0).astype(np.int64)
    certify = first_true(
        lambda a: log_evidence_above(np.minimum(a, n), n, p0) >= -math.log(alpha), centre, none
    )
    given_up = first_true(
        lambda b: log_evidence_below(np.maximum(n - b, 0), n, p0) >= -math.log(beta), n - centre - 1, none
    )
    return Boundary(looks=n, certify=certify, abandon=n - given_up)


def confidence_sequence_lower(successes: ArrayLike, trials: ArrayLike, alpha: float) -> Any:
    """Return a lower bound on p that holds at all times at once with probability 1 - alpha.

    Found by inverting `log_evidence_above` over p0, rounded down. Wider than Clopper-Pearson at any one
    time: that is the price of looking whenever one likes.

    Args:
        successes: votes for the class; a number or an array.
        trials: votes drawn, >= 1; a number or an array.
        alpha: one-sided error probability, in (0, 1).
    """
    check_level("alpha", alpha)
    a, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    low, high = np.zeros(a.shape), a / n
    for _ in range(45):  # to 3e-14, rounded down
        middle = (low + high) / 2
        with np.errstate(invalid="ignore"):
            rejected = log_evidence_above(a, n, middle) >= -math.log(alpha)
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return float(low) if low.ndim == 0 else low


def confidence_sequence_upper(successes: ArrayLike, trials: ArrayLike, alpha: float) -> Any:
    """Return an upper bound on p that holds at all times at once; the mirror image of the lower one."""
    return 1 - confidence_sequence_lower(np.asarray(trials) - np.asarray(successes), trials, alpha)
