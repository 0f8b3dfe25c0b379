"""Inverse distribution function of rounded normal noise, from integers to integers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothcert.noise.guided_table import BITS, GuidedTable
from smoothcert.on_demand import special


def thresholds(sigma: float, reach: int) -> NDArray[np.int64]:
    """Return Phi((2k + 1) / (510 sigma)) as 63-bit integers for k = -reach .. reach - 1, increasing.

    Within 2^-53 of the exact value: the lower half is computed, where a float64 has bits to spare, and the upper
    half is its mirror image.

    Args:
        sigma: standard deviation in pixel units.
        reach: the table covers noise of up to `reach` steps of 1/255.
    """
    below = np.arange(-reach, 0, dtype=np.float64)
    lower = np.floor(special.ndtr((2 * below + 1) / (510 * sigma)) * 2.0**BITS).astype(np.int64)
    # P(noise <= k) = 1 - P(noise <= -k-1). Where that is 1, the edge 2^63 does not fit; its predecessor does.
    upper = np.iinfo(np.int64).max - np.maximum(lower[::-1] - 1, 0)
    return np.concatenate([lower, upper])


@lru_cache(maxsize=16)
def grid_table(sigma: float, reach: int) -> GuidedTable:
    """Return the table for one sigma, whose answers are steps of 1/255; kept for the next call."""
    return GuidedTable.of(thresholds(sigma, reach), offset=reach)
