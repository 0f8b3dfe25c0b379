"""Two bounds from one set of votes: the class from below, every other class from above."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from smoothcert.bounds.clopper_pearson import clopper_pearson_lower, clopper_pearson_upper


def runner_up_bounds(
    successes: ArrayLike, largest_other: ArrayLike, trials: ArrayLike, alpha: float
) -> tuple[Any, Any]:
    """Return (p_L, q_U): with probability 1 - alpha, p_L <= the class's and q_U >= every other's probability.

    Half of alpha goes to each side. No union over classes is needed: the bound grows with the count, so q_U of the
    largest other count is at least that of the other class that is really the most probable. Not to be used
    on votes that chose the class.

    Args:
        successes: votes for the class; a number or an array.
        largest_other: most votes for any one other class, votes for no class counted as a class of their own.
        trials: votes drawn, >= 1.
        alpha: error probability of both bounds together, in (0, 1).
    """
    p_lower = clopper_pearson_lower(successes, trials, alpha / 2)
    q_upper = clopper_pearson_upper(largest_other, trials, alpha / 2)
    capped = np.minimum(q_upper, 1 - np.asarray(p_lower))  # what the class leaves is all that others have
    return p_lower, float(capped) if capped.ndim == 0 else capped
