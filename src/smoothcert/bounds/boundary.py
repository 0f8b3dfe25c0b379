"""A stopping boundary on counts, and what it does, computed exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-30  # mass cut off each end of a law per step; what is cut is summed up and reported


@dataclass(frozen=True, eq=False)
class Boundary:
    """When to stop: at look k, after `looks[k]` votes of which A are for the class.

    Certify when A >= certify[k], give up when A <= abandon[k], else go on; after the last look give up.
    Not tied to the way its numbers were found: e-process, exact spending and staged bounds all end here.

    Args:
        looks: votes seen at each look: cumulative and increasing, or each stage's own if `fresh`.
        certify: smallest count that certifies at each look; looks[k] + 1 where none does.
        abandon: largest count that gives up at each look; -1 where none does.
        fresh: True if every look counts only the votes drawn since the look before it.
    """

    looks: Ints
    certify: Ints
    abandon: Ints
    fresh: bool = False


@dataclass(frozen=True)
class Operation:
    """What a boundary does at one success probability; exact up to `lost`, the mass cut off in tails."""

    certified: float
    abandoned: float
    expected_votes: float
    lost: float


def binomial_law(trials: int, p: float) -> tuple[int, Floats]:
    """Return (lowest count, probabilities) of Binomial(trials, p), ends of mass below 1e-30 left out.

    Grown outward from the mode by exact ratios and normalised, so the relative error is a few ulps per step;
    log-gamma differences would lose five digits at 1e5 trials.
    """
    if p in (0.0, 1.0):
        return int(trials * p), np.ones(1)
    mode = min(int((trials + 1) * p), trials)
    reach = int(12 * np.sqrt(trials * p * (1 - p)) + 80)
    lowest, highest = max(0, mode - reach), min(trials, mode + reach)
    odds = p / (1 - p)
    up = np.arange(mode, highest, dtype=np.float64)
    down = np.arange(mode, lowest, -1, dtype=np.float64)
    rising = np.cumprod((trials - up) / (up + 1) * odds)
    falling = np.cumprod(down / (trials - down + 1) / odds)
    law = np.concatenate([falling[::-1], [1.0], rising])
    law /= law.sum()
    kept = np.flatnonzero(law > _NEGLIGIBLE)
    return lowest + int(kept[0]), law[kept[0] : kept[-1] + 1]


def operate(boundary: Boundary, p: float) -> Operation:
    """Return the exact chances to certify and to give up, and the expected votes, at success probability p.

    By dynamic programming over counts; no sampling. Both sides of the boundary stop.
    """
    low, law, seen = 0, np.ones(1), 0  # law[i]: chance to be alive with count low + i after `seen` votes
    certified = abandoned = votes = lost = 0.0
    kernels: dict[int, tuple[int, Floats]] = {}
    for n, up, down in zip(boundary.looks, boundary.certify, boundary.abandon, strict=True):
        step = int(n) if boundary.fresh else int(n) - seen
        if step not in kernels:
            kernels[step] = binomial_law(step, p)
        shift, kernel = kernels[step]
        alive = law.sum()
        votes += alive * step
        law = alive * kernel if boundary.fresh else np.convolve(law, kernel)
        low = shift if boundary.fresh else low + shift
        lost += max(alive - law.sum(), 0.0)
        seen = int(n)
        above, below = max(int(up) - low, 0), max(int(down) + 1 - low, 0)
        certified += law[above:].sum()
        abandoned += law[: min(below, above)].sum()
        law, low = law[below:above], low + below
        if law.size == 0 or law.sum() < 1e-18:
            break
        low, law, cut = trim_law(low, law)
        lost += cut
    return Operation(float(certified), float(abandoned + law.sum()), float(votes), float(lost))


def trim_law(low: int, law: Floats) -> tuple[int, Floats, float]:
    """Cut the negligible ends of a law; return its new lowest count, what stays, and the mass cut."""
    kept = np.flatnonzero(law > _NEGLIGIBLE)
    inner = law[kept[0] : kept[-1] + 1]
    return low + int(kept[0]), inner, float(law[: kept[0]].sum() + law[kept[-1] + 1 :].sum())


def first_true(test: Callable[[Ints], NDArray[np.bool_]], start: Ints, none: Ints) -> Ints:
    """Return the smallest integer in (start, none) where the monotone `test` holds, else `none`, by bisection."""
    low, high = start.copy(), none.copy()
    while (active := high - low > 1).any():
        middle = (low + high) // 2
        holds = test(middle)
        high = np.where(active & holds, middle, high)
        low = np.where(active & ~holds, middle, low)
    return high
