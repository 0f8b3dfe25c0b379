"""From votes of some images to the cost of a run: a figure and the range it will lie in.

By simulating whole runs. Each takes other images that the votes allow: random weights on the images tried (the Bayesian
bootstrap), and a share of images unlike any tried, which are as costly as an image can be for the upper end and as
cheap for the lower (Gaffke's bound on the mean of a bounded quantity). What a few votes say of an image's probability
is sharpened by what they say of all others to a degree that differs from run to run: not at all, as if no two images
were alike, up to the likeliest population, in which many may lie at the very threshold of the target. So the range
holds what is not known of other images, of the images tried, and of the run's own luck.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from smoothcert.certificates import Plan
from smoothcert.execution.pilot import Pilot

TRIAL_SECONDS = 5.0
"""Of a trial run that a forecast is made from, about, where nothing else is said."""
_RUNS = 400  # simulated
_TAIL = 0.005  # of the simulated runs beyond each end: fewer than 2.5%, because real images are lumpier than any model
_SHARPENINGS = (0, 3, 15, 63, 511)  # steps towards the likeliest population
_MOST_IMAGES = 20_000  # of a simulated run: larger ones vary no more than that
_PATHS = 20  # simulated courses at each probability

# Denser towards 0 and 1, where the same votes tell probabilities better apart.
CHANCES: NDArray[np.float64] = np.sin(np.pi / 2 * (np.arange(1_000) + 0.5) / 1_000) ** 2
"""Probabilities that images are taken to have."""


@dataclass(frozen=True)
class Forecast:
    """Votes per image of a run: what to expect, and the range that 95% of runs lie in."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Runs:
    """Images of simulated runs: how many have each probability, and how many are like none that was tried.

    Args:
        images: (runs, probabilities).
        unseen: by run.
    """

    images: NDArray[np.int64]
    unseen: NDArray[np.int64]


def simulate_runs(pilot: Pilot) -> Runs:
    """Return the images of runs that the pilot's votes allow; they are the same for all procedures."""
    draws = np.random.default_rng(0)
    kinds, many = np.unique(np.stack([pilot.leading, pilot.drawn], axis=1), axis=0, return_counts=True)
    likelihood = _likelihood(kinds)
    untried = max(min(pilot.images, _MOST_IMAGES) - len(pilot), 0)
    shares = draws.standard_gamma([*many.tolist(), 1.0], size=(_RUNS, len(many) + 1))
    shares /= shares.sum(axis=1, keepdims=True)
    strange = draws.binomial(untried, shares[:, -1])
    images = np.empty((_RUNS, len(CHANCES)), dtype=np.int64)
    for first, sharpenings in enumerate(_SHARPENINGS):
        alike = range(first, _RUNS, len(_SHARPENINGS))
        populations = _populations(likelihood, shares[alike, :-1], sharpenings)
        for run, population in zip(alike, populations, strict=True):
            own = likelihood * population
            tried = draws.multinomial(many, own / own.sum(axis=1, keepdims=True)).sum(axis=0)
            images[run] = tried + draws.multinomial(untried - strange[run], population)
    return Runs(images, strange)


def _likelihood(kinds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of votes, by kind of image and probability of its leading class."""
    leading, drawn = kinds[:, :1], kinds[:, 1:]
    logs = xlogy(leading, CHANCES) + xlogy(drawn - leading, 1 - CHANCES)
    logs += gammaln(drawn + 1) - gammaln(leading + 1) - gammaln(drawn - leading + 1)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _populations(
    likelihood: NDArray[np.float64], weights: NDArray[np.float64], sharpenings: int
) -> NDArray[np.float64]:
    """Return shares of probabilities among images, (runs, probabilities), the nearer to the likeliest the more steps.

    Steps of expectation-maximisation from Jeffreys' prior, which the spacing of the probabilities amounts to.
    """
    found = np.full((len(weights), len(CHANCES)), 1 / len(CHANCES))
    for _ in range(1 + sharpenings):
        found *= (weights / (found @ likelihood.T)) @ likelihood
        found /= found.sum(axis=1, keepdims=True)
    return found


def forecast(runs: Runs, plan: Plan) -> Forecast:
    """Return what a plan will spend per image.

    Args:
        runs: what `simulate_runs` made of a pilot.
        plan: the procedure, bound to noise and alpha.
    """
    draws = np.random.default_rng(1)
    votes = plan.simulated_votes(np.repeat(CHANCES, _PATHS), draws).reshape(len(CHANCES), _PATHS)
    costs = votes.mean(axis=1)
    cheapest, costliest = float(costs.min()), float(costs.max())
    totals, seen = np.empty(_RUNS), runs.images.sum(axis=1)
    for run, images in enumerate(runs.images):
        chosen = np.repeat(np.arange(len(CHANCES)), images)
        totals[run] = votes[chosen, draws.integers(_PATHS, size=len(chosen))].sum()
    every = seen + runs.unseen
    low = np.quantile((totals + runs.unseen * cheapest) / every, _TAIL)
    high = np.quantile((totals + runs.unseen * costliest) / every, 1 - _TAIL)
    return Forecast(float((totals / seen).mean()), float(low), float(high))
