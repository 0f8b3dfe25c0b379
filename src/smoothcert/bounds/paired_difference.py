"""Exact interval for the difference of two shares that were measured on the same images.

Of n pairs, b succeed for the second alone, c for the first alone: (b, c, n - b - c) is trinomial, and the difference of
the two true shares is delta = p_b - p_c. What both do alike says nothing about it, so what is unknown beside delta is
pi = p_b + p_c. How the lower end is made (the upper one is that of the exchanged pair):

- Outcomes are ordered by an approximate lower limit, Wald's with z^2 pairs added of which half differ (with fewer, one
  more b could rank lower at small alpha), closed so that more b and fewer c never rank lower. An end is the least delta
  under which outcomes at least as high as the observed one have more than their part of alpha for some pi (Buehler
  1957; Lloyd and Moldovan 2007 for paired shares). Ordered by b - c alone, as in a sign test, ends would lie
  farther out: its spread grows with pi, that of this order hardly does.
- pi runs over its Clopper-Pearson interval, whose small error is taken off alpha (Berger and Boos 1994).
- Because the order is closed, the chance of such outcomes grows with p_b and falls with p_c. Hence it grows with delta,
  so that halving finds the end, and over a cell of pi it is at most the chance at the cell's largest p_b with
  its smallest p_c: a maximum over cells is no guess. A cell costs half its width of delta.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from smoothcert.arguments import check_whole
from smoothcert.bounds.clopper_pearson import check_level, clopper_pearson_lower, clopper_pearson_upper
from smoothcert.bounds.paired_tail import PairedTail
from smoothcert.errors import InvalidArgumentError

MOST_PAIRS = 10**6
"""Beyond it the arithmetic has not been held against exact tails."""

_NUISANCE_SHARE = 1 / 200  # of alpha, for the interval of pi
_CELLS = 200  # of that interval: together they cost about 1% of the width
_COARSE = 20  # every so manieth cell is asked while the end is looked for, then all
_STEP = 0.002  # of the distance to the estimate: how closely an end is found
_LEAST_STEP = 1e-12


def paired_difference_interval(gained: int, lost: int, pairs: int, alpha: float) -> tuple[float, float]:
    """Return (low, high) around p_gained - p_lost, each end wrong with probability at most alpha / 2. Rounded outward.

    Not conditional on b + c like McNemar's test, and not for pairs that were chosen by their outcome.

    Args:
        gained: pairs in which only the second succeeds.
        lost: pairs in which only the first succeeds.
        pairs: all pairs, also those that are alike; 1 to a million.
        alpha: two-sided error probability, in (0, 1).

    Example:
        >>> low, high = paired_difference_interval(40, 15, 500, alpha=0.05)
        >>> round(low, 3), round(high, 3)
        (0.021, 0.082)
    """
    check_level("alpha", alpha)
    pairs = check_whole("pairs", pairs, 1, MOST_PAIRS, numpy=True)
    gained, lost = (
        check_whole(name, count, 0, pairs, numpy=True) for name, count in (("gained", gained), ("lost", lost))
    )
    if gained + lost > pairs:
        raise InvalidArgumentError(
            f"gained and lost are different pairs, so together at most {pairs:,}, got {gained:,} and {lost:,}"
        )
    return _lower(gained, lost, pairs, alpha), -_lower(lost, gained, pairs, alpha)


def _lower(gained: int, lost: int, pairs: int, alpha: float) -> float:
    """Return the lower end."""
    nuisance = alpha * _NUISANCE_SHARE
    level = alpha / 2 - nuisance
    apart = gained + lost
    least = clopper_pearson_lower(apart, pairs, nuisance / 2)
    most = clopper_pearson_upper(apart, pairs, nuisance / 2)
    tail = PairedTail(gained, lost, pairs, float(ndtri(1 - alpha / 2)), least, most)
    edges = np.linspace(least, most, _CELLS + 1)
    cells = np.stack([edges[:-1], edges[1:]])
    asked, high = np.arange(0, _CELLS, _COARSE), (gained - lost) / pairs
    step = max(_STEP * (high - tail.rank), _LEAST_STEP)
    while True:  # until no cell objects that was not asked; each time there is one more of them
        low = -most
        while high - low > step:
            middle = (low + high) / 2
            is_excluded = tail.chances(middle, cells[:, asked]).max() <= level
            low, high = (middle, high) if is_excluded else (low, middle)
        chances = tail.chances(low, cells)
        if low == -most or chances.max() <= level:
            return float(low)
        asked, high = np.append(asked, chances.argmax()), low
