"""What probabilities prove, a second time: radii by other formulas than the laws' own, by the name of the law.

The normal distribution is Python's own; replaced coordinates are convolved one at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

MOST_COORDINATES = 500
"""Of an l0 radius: beyond, sums of floats are no second opinion."""


@lru_cache(maxsize=2**10)
def replaced(keep: float, levels: int, radius: int) -> float:
    """Return the probability that `radius` replaced coordinates need, by convolving one coordinate at a time."""
    other = (1 - keep) / (levels - 1)
    one = np.array([keep, (levels - 2) * other, other])  # like the image, like neither, like its neighbour
    law = np.ones(1)
    for _ in range(radius):
        law = np.convolve(law, one)
    there = np.cumsum(law[::-1])  # at the neighbour, from what speaks most for the image on
    last = int(np.searchsorted(there, 0.5))
    before = float(there[last - 1]) if last else 0.0
    return float(law[:last].sum() + law[last] * (0.5 - before) / law[::-1][last])


def _coordinates(p: float, law: Mapping[str, Any]) -> float:
    """Return the largest number of coordinates that a probability allows, up to the rounding of sums."""
    radius = 0
    while radius < MOST_COORDINATES and p > replaced(law["keep"], law["levels"], radius + 1) * (1 - 1e-12):
        radius += 1
    return float(radius)


def _table_cost(law: Mapping[str, Any]) -> float:
    """Return what 53 bits of 510 (K + 1) thresholds cost in probability, at the image and at its neighbour."""
    thresholds = 510 * (max(1, int(6 * law["sigma"])) + 1)
    return float(2 * law["dimension"] * thresholds * 2.0**-53)


def _normal_rival(p: float, radius: float, law: Mapping[str, Any]) -> float:
    normal = NormalDist()  # R = sigma/2 (Phi^-1(p) - Phi^-1(q))
    return normal.cdf(normal.inv_cdf(p) - 2 * radius / law["sigma"])


def _grid_rival(p: float, radius: float, law: Mapping[str, Any]) -> float:
    cost = _table_cost(law)
    return _normal_rival(p - cost, radius, law) - cost if p > cost else 0.0


def _laplace_rival(p: float, radius: float, law: Mapping[str, Any]) -> float:
    shrunk = math.exp(-radius / law["scale"])  # what is left of any density
    return max(p - (1 - shrunk), p * shrunk**2)


RADII: dict[str, Callable[[float, Mapping[str, Any]], float]] = {
    "gaussian": lambda p, law: law["sigma"] * NormalDist().inv_cdf(p),
    "uniform": lambda p, law: 2 * law["half_width"] * (p - 0.5),
    "grid-gaussian": lambda p, law: law["sigma"] * NormalDist().inv_cdf(max(p - _table_cost(law), 0.5)),
    "discrete": _coordinates,
    "laplace": lambda p, law: -law["scale"] * math.log(2 * (1 - p)),
}
"""Radius by noise law from a probability in (1/2, 1)."""

RIVALS: dict[str, Callable[[float, float, Mapping[str, Any]], float]] = {
    "gaussian": _normal_rival,
    "grid-gaussian": _grid_rival,
    "uniform": lambda p, radius, law: p - radius / law["half_width"],  # R = L (p - q)
    "laplace": _laplace_rival,
}
"""By noise law: the probability that no other class may exceed, if one of probability p is to keep a radius.

Laws that are in neither table are checked by their own code alone, and an audit says so.
"""
