"""Radii in another norm than the noise's own, by the inequality between the norms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from smoothcert.arguments import is_whole
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise.domain import checked_radius, plain

_INVERSE = {"l1": 1.0, "l2": 0.5, "linf": 0.0}  # 1/p
NORMS = tuple(_INVERSE)
"""Norms whose radii can be turned into each other; l0 counts coordinates, whatever their size."""


def radius_in_norm(radius: ArrayLike, source: str, target: str, dimension: int) -> Any:
    """Return the largest radius in `target` whose ball lies inside the ball of `radius` in `source`.

    Certifies the same votes in another norm: an l2 radius R is an linf radius of R / sqrt(d). Weak where it
    shrinks: of the linf ball only the corners come near the l2 sphere, so nearly all of what was proven is given
    away (CIFAR-10: 1/55), and for noise of the l2 kind nothing better is possible in high dimensions. Rounded down.

    Args:
        radius: certified radius in `source`; a number or an array.
        source: norm of the certificate, "l1", "l2" or "linf".
        target: norm that is asked for, one of the same.
        dimension: number of coordinates of an image, channels counted singly.
    """
    for name, norm in (("source", source), ("target", target)):
        if norm not in _INVERSE:
            raise InvalidArgumentError(
                f"{name} must be one of {', '.join(NORMS)}, got {norm!r}; radii in other norms cannot be turned into "
                "these"
            )
    if not is_whole(dimension, 1, 2**53):
        raise InvalidArgumentError(f"dimension must be an integer from 1 to 2^53, got {dimension!r}")
    r = checked_radius(radius)
    # ||v||_p <= d^(1/p - 1/q) ||v||_q for p <= q, and ||v||_p <= ||v||_q for p >= q.
    power = _INVERSE[source] - _INVERSE[target]
    if power <= 0:
        return plain(r)
    shrunk = r / (float(dimension) if power == 1 else math.sqrt(dimension))
    converted = [
        _not_above(float(s), float(one), dimension, power) for s, one in zip(shrunk.flat, r.flat, strict=True)
    ]
    return plain(np.array(converted, dtype=np.float64).reshape(r.shape))


def _not_above(bound: float, radius: float, dimension: int, power: float) -> float:
    """Return the largest float with found d^power <= radius, next to `found`: .05 / 8 is exact and stays."""
    if not 0 < bound < math.inf:
        return bound
    # The quotient may be off to either side.
    bound = min(radius, math.nextafter(math.nextafter(bound, math.inf), math.inf))
    times = round(2 * power)  # bound^2 d^times <= radius^2, in exact fractions
    while Fraction(bound) ** 2 * dimension**times > Fraction(radius) ** 2:
        bound = math.nextafter(bound, 0)
    return bound
