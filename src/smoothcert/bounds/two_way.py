"""PREDICT's test: is the first of two classes really ahead?"""

from __future__ import annotations

from scipy.special import bdtrc


def two_way_p_value(first: int, second: int) -> float:
    """Return the two-sided binomial p-value of `first` against `second` votes at even odds.

    Args:
        first: votes of the leading class, >= second.
        second: votes of the runner-up.
    """
    trials = first + second
    if first <= second:
        return 1.0
    return float(min(1.0, 2 * bdtrc(first - 1, trials, 0.5)))
