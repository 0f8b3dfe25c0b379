"""Equal inference: k members at n votes against one member at k n votes, by exact expectation (Tables 13 and 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from smoothcert.certificates import check_votes
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.theory.radius_law import Floats, radius_law


@dataclass(frozen=True, eq=False)
class ExpectedRun:
    """What CERTIFY is expected to report about images whose success probabilities are known.

    Args:
        members: evaluations per vote, k.
        votes: votes per image, n.
        acr: expected average certified radius, in pixel units.
        certified_accuracy: expected share of images certified as their label, at each radius asked about.
    """

    members: int
    votes: int
    acr: float
    certified_accuracy: Floats


def expected_run(
    p: ArrayLike, *, members: int, votes: int, radii: Sequence[float], alpha: float, noise: NoiseLaw
) -> ExpectedRun:
    """Return the exact expectation of CERTIFY's report.

    Not counting mistakes of the class choice.

    Args:
        p: true probability under noise of each image's label, (images,).
        members: evaluations per vote.
        votes: votes per image that bound p.
        radii: radii of certified accuracy, in pixel units.
        alpha: error probability, one-sided.
        noise: law of the noise.
    """
    table = np.atleast_1d(np.asarray(p, dtype=np.float64))
    if table.ndim != 1 or not table.size:
        raise InvalidArgumentError(f"p must hold one probability per image, got shape {table.shape}")
    values, counts = np.unique(table, return_counts=True)
    share = counts / table.size
    laws = [radius_law(float(value), votes, alpha=alpha, noise=noise) for value in values]
    reached = np.array([[law.at_least(radius) for radius in radii] for law in laws]).reshape(len(laws), -1)
    return ExpectedRun(members, votes, float(share @ [law.mean for law in laws]), share @ reached)


def equal_inference(
    p_single: ArrayLike,
    p_ensemble: ArrayLike,
    *,
    k: int,
    n: int,
    radii: Sequence[float],
    alpha: float,
    noise: NoiseLaw,
) -> tuple[ExpectedRun, ExpectedRun, ExpectedRun]:
    """Return one member at n votes, one member at k n votes, and k members at n votes.

    Args:
        p_single: true probability of each image's label under one member.
        p_ensemble: the same under the ensemble of k, for the same images.
        k: members of the ensemble.
        n: votes of the ensemble, per image.
        radii: radii of certified accuracy, in pixel units.
        alpha: error probability, one-sided.
        noise: law of the noise.
    """
    check_votes("k", k)
    check_votes("n", n)
    if np.shape(p_single) != np.shape(p_ensemble):
        raise InvalidArgumentError(
            "p_single and p_ensemble must be about the same images, got shapes "
            f"{np.shape(p_single)} and {np.shape(p_ensemble)}"
        )
    plans = ((p_single, 1, n), (p_single, 1, k * n), (p_ensemble, k, n))
    one, longer, several = (
        expected_run(p, members=members, votes=votes, radii=radii, alpha=alpha, noise=noise)
        for p, members, votes in plans
    )
    return one, longer, several
