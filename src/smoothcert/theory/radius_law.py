"""The law of CERTIFY's radius at a known success probability (Eq. 6), summed over the binomial exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.arguments import check_number
from smoothcert.bounds import binomial_law, clopper_pearson_lower
from smoothcert.certificates import check_votes
from smoothcert.noise import NoiseLaw

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RadiusLaw:
    """What CERTIFY returns at one success probability: radii, each with its chance; 0 stands for abstention.

    Not about the class choice: it is taken as right. Counts of chance below 1e-30 are left out.

    Args:
        radius: in pixel units, increasing, (values,).
        chance: of each radius, (values,), with sum 1.
    """

    radius: Floats
    chance: Floats

    @property
    def mean(self) -> float:
        """Mean radius, abstentions counting 0."""
        return float(self.radius @ self.chance)

    @property
    def abstain(self) -> float:
        """Chance to abstain."""
        return float(self.chance[self.radius == 0].sum())

    def at_least(self, radius: float) -> float:
        """Return the chance of a certificate with at least this radius."""
        return float(self.chance[(self.radius >= radius) & (self.radius > 0)].sum())


def radius_law(p: float, n: int, *, alpha: float, noise: NoiseLaw) -> RadiusLaw:
    """Return the exact law of the radius that CERTIFY proves.

    Args:
        p: true probability of the class under noise, in [0, 1].
        n: votes that bound it.
        alpha: error probability, one-sided.
        noise: law that turns a bound into a radius.
    """
    _check(p, n)
    lowest, chance = binomial_law(n, p)
    radius = proven_radius(np.arange(lowest, lowest + len(chance)), n, alpha=alpha, noise=noise)
    values, places = np.unique(radius, return_inverse=True)
    return RadiusLaw(values, np.bincount(places, weights=chance).astype(np.float64))


def proven_radius(counts: ArrayLike, n: int, *, alpha: float, noise: NoiseLaw) -> Floats:
    """Return CERTIFY's radius for each count of votes out of n; 0 where it abstains."""
    return np.atleast_1d(noise.radius(clopper_pearson_lower(counts, n, alpha)))


def mean_radii(p: ArrayLike, n: ArrayLike, *, alpha: float, noise: NoiseLaw) -> Floats:
    """Return the mean radius on a grid of success probabilities and numbers of votes, (p, n) (Fig. 3).

    Args:
        p: true probabilities.
        n: numbers of votes.
        alpha: error probability, one-sided.
        noise: law that turns a bound into a radius.
    """
    rows, columns = np.atleast_1d(np.asarray(p, dtype=np.float64)), np.atleast_1d(np.asarray(n))
    return np.array(
        [
            [radius_law(float(one), int(votes), alpha=alpha, noise=noise).mean for votes in columns]
            for one in rows
        ]
    )


def _check(p: float, n: int) -> None:
    check_number("p", p, 0, 1, what="a probability in [0, 1]", numpy=True)
    check_votes("n", n)
