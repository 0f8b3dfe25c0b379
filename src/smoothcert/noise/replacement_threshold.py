"""The probability that an l0 radius needs under discrete replacement, in exact rational numbers (Lee et al. 2019).

Only the r coordinates that differ between the image x and its neighbour x' matter. Each shows x's value (with
probability a under x, b under x'), the value of x' (b, a) or one of the K - 1 others (b, b each). Among
classifiers with a given probability at x the worst at x' is the likelihood-ratio test (Neyman and Pearson), and
the ratio depends only on how many more coordinates show x's value than that of x'.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np


def replacement_threshold(keep: Fraction, levels: int, radius: int) -> Fraction:
    """Return rho_r^-1(1/2): a class with more probability than this at x has more than 1/2 at all x' within r.

    Args:
        keep: probability a that a coordinate keeps its value, above 1/levels and below 1.
        levels: number of values a coordinate can take, K + 1.
        radius: number r of coordinates that may differ, >= 0.

    Example:
        >>> replacement_threshold(Fraction(4, 5), 2, 1)
        Fraction(7, 8)
    """
    return Fraction(*_as_integers(keep, levels, radius))


@lru_cache(maxsize=2**14)
def threshold_below(keep: Fraction, levels: int, radius: int) -> float:
    """Return the largest float that does not exceed the threshold: floats exceed both or neither."""
    return _float_near(*_as_integers(keep, levels, radius), -math.inf)


@lru_cache(maxsize=2**14)
def threshold_above(keep: Fraction, levels: int, radius: int) -> float:
    """Return the smallest float that is not below the threshold."""
    return _float_near(*_as_integers(keep, levels, radius), math.inf)


def _as_integers(keep: Fraction, levels: int, radius: int) -> tuple[int, int]:
    """Return the threshold as numerator and denominator, not in lowest terms: that would take most of the time."""
    others = levels - 1
    # a = A/D, b = B/D and (K - 1) b = C/D in whole numbers, so that the sums below are sums of integers.
    whole = keep.denominator * others
    same, other = keep.numerator * others, keep.denominator - keep.numerator
    total = whole**radius
    # Coefficient of z^j in (A + C z + B z^2)^r: mass under x of r - j more coordinates like x than like x'.
    # Mass under x' is the same list read backwards.
    at_image = _trinomial(same, other * (others - 1), other, radius)
    gathered, reached = 0, 0
    for mine, theirs in zip(at_image, reversed(at_image), strict=True):
        if 2 * (reached + theirs) >= total:
            # gathered + mine (total/2 - reached) / theirs, over total
            return 2 * gathered * theirs + mine * (total - 2 * reached), 2 * theirs * total
        gathered, reached = gathered + mine, reached + theirs
    raise ArithmeticError(f"the probabilities of {radius} replaced coordinates do not sum up to 1")


def _trinomial(first: int, second: int, third: int, power: int) -> list[int]:
    """Return the coefficients of (first + second z + third z^2)^power, lowest power of z first; first > 0."""
    powers = [first**power]
    before = 0
    for j in range(1, 2 * power + 1):
        # From P' (first + second z + third z^2) = power P (second + 2 third z), coefficient by coefficient.
        step = (power - j + 1) * second * powers[-1] + (2 * power - j + 2) * third * before
        before = powers[-1]
        powers.append(step // (j * first))
    return powers


def _float_near(numerator: int, denominator: int, towards: float) -> float:
    """Return the quotient rounded to a float towards minus or plus infinity."""
    near = numerator / denominator  # of integers, rounded correctly whatever their size
    above, below = near.as_integer_ratio()
    excess = above * denominator - numerator * below
    wrong = excess > 0 if towards < 0 else excess < 0
    return float(np.nextafter(near, towards)) if wrong else near
