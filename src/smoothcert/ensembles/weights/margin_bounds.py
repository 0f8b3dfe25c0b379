"""When mixing helps: bounds on an ensemble's failures from the moments of its members' margins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.arguments import is_whole
from smoothcert.ensembles.weights.margins import MarginMoments
from smoothcert.errors import InvalidArgumentError


def failure_bound(moments: MarginMoments, weights: ArrayLike) -> float:
    """Return the mean over images of min(1, sum_c w' C_c w / (w' e_c)^2), Chebyshev's bound on wrong votes.

    1 at an image where some mean margin of the mixture is not positive: there the theory says nothing. Unlike
    `success_bound` it knows each member's moments, so members that differ can be compared with their mixture: if its
    bound is above that of the best of them alone, mixing is expected to do harm. Not a certificate: the moments are
    estimated.

    Args:
        moments: of the members' margins.
        weights: one number >= 0 per member, scaled to sum 1.
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != moments.mean.shape[1:2] or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise InvalidArgumentError(
            f"weights must be {moments.mean.shape[1]} numbers >= 0 with a positive sum, got {weights!r}"
        )
    w = w / w.sum()
    margin = np.einsum("k,nkc->nc", w, moments.mean)
    spread = np.einsum("k,nckl,l->nc", w, moments.covariance, w)
    others = np.arange(margin.shape[1]) != moments.classes[:, None]
    known = (margin > 0) | ~others
    ratio = np.where(others & known, spread / np.where(others & known, margin, 1.0) ** 2, 0.0)
    return float(np.where(known.all(axis=1), np.minimum(ratio.sum(axis=1), 1.0), 1.0).mean())


def success_bound(variance: ArrayLike, covariance: ArrayLike, margin: ArrayLike, members: int) -> float:
    """Return the theory's lower bound on the probability that a mixture of equal weights answers the class.

    1 - sum_c (beta_c + (alpha_c - beta_c)/k) / e_c^2, by Chebyshev's inequality; may be below 0.

    Args:
        variance: alpha_c, the largest variance of a member's margin, per other class.
        covariance: beta_c, the largest covariance of two members' margins, per other class.
        margin: e_c > 0, the smallest mean margin of a member, per other class.
        members: k.
    """
    alpha, beta, e = _terms(variance, covariance, margin)
    if not is_whole(members, 1):
        raise InvalidArgumentError(f"members must be a positive integer, got {members!r}")
    return float(1 - ((beta + (alpha - beta) / members) / e**2).sum())


def mixing_helps(variance: ArrayLike, covariance: ArrayLike, margin: ArrayLike) -> bool:
    """Return whether `success_bound` grows with the number of members: where alpha_c exceeds beta_c, weighted.

    Arguments as there. Where it is false the theory expects an ensemble to do harm.
    """
    alpha, beta, e = _terms(variance, covariance, margin)
    return bool(((alpha - beta) / e**2).sum() > 0)


def _terms(variance: ArrayLike, covariance: ArrayLike, margin: ArrayLike) -> list[NDArray[np.float64]]:
    terms = [np.atleast_1d(np.asarray(term, dtype=np.float64)) for term in (variance, covariance, margin)]
    if len({term.shape for term in terms}) != 1:
        shapes = [term.shape for term in terms]
        raise InvalidArgumentError(f"variance, covariance and margin must be of one shape, got {shapes}")
    if not all(np.isfinite(term).all() for term in terms) or (terms[2] <= 0).any():
        raise InvalidArgumentError(
            f"variance, covariance and margin must be finite and margin above 0, got margin {margin!r}; the theory "
            "says nothing about a class that a member prefers"
        )
    return terms
