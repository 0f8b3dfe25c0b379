"""What the first stage of CERTIFYADP decides, over the true success probability (Fig. 15); exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc

from smoothcert.bounds import staged_boundary
from smoothcert.certificates import Staged, reachable_threshold
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FirstStage:
    """Chances of the three ways out of the first stage, one entry per success probability; they sum to 1.

    Args:
        certify: the radius is proven.
        abstain: it is given up.
        go_on: the next stage is needed.
    """

    certify: Floats
    abstain: Floats
    go_on: Floats


def first_stage(p: ArrayLike, procedure: Staged, *, alpha: float, noise: NoiseLaw) -> FirstStage:
    """Return the chances of the first stage's decisions.

    Not about the class choice, which is taken as made.

    Args:
        p: true probabilities of the class under noise.
        procedure: stages, radius and beta.
        alpha: error probability over all stages, one-sided.
        noise: law of the noise.
    """
    chance = np.atleast_1d(np.asarray(p, dtype=np.float64))
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InvalidArgumentError(f"p must hold probabilities in [0, 1], got {p!r}")
    stages = tuple(procedure.stages)
    p0 = reachable_threshold(noise, procedure.radius)
    boundary = staged_boundary(stages, p0, alpha, procedure.beta)
    votes, certify_at, abandon_at = stages[0], int(boundary.certify[0]), int(boundary.abandon[0])
    certify = np.asarray(bdtrc(certify_at - 1, votes, chance))
    if len(stages) == 1:  # an only stage is the last: what it does not prove is given up
        abstain = 1 - certify
    else:
        abstain = np.asarray(bdtr(abandon_at, votes, chance)) if abandon_at >= 0 else np.zeros_like(chance)
    return FirstStage(certify, abstain, np.maximum(1 - certify - abstain, 0.0))
