"""Inverse distribution function of rounded normal noise, from integers to integers: exact, and fast.

A random integer u of 63 bits becomes the number of thresholds that do not exceed it. A guide by the top bits of u
answers at once where a cell of integers holds no threshold; the few others are looked up one by one. Both ways
give the same number, so the guide changes the time and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smoothcert.on_demand import special, torch

BITS = 63
"""Bits of the random integers; int64 has one more for the sign."""

# 65,536 cells of two bytes fit a core's cache; under 5% of draws fall into a cell with a threshold.
_GUIDE_BITS = 16
_UNSURE = -(2**15)


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


@dataclass(frozen=True, eq=False)
class GridTable:
    """The table of one sigma on one device.

    Args:
        edges: the thresholds, increasing.
        guide: noise by the top bits of a random integer; a sentinel where they do not decide it.
        reach: largest noise, in steps of 1/255.
    """

    edges: torch.Tensor
    guide: torch.Tensor
    reach: int

    def steps(self, integers: torch.Tensor) -> torch.Tensor:
        """Return the noise of 63-bit integers, in steps of 1/255, as int16."""
        flat = integers.reshape(-1)
        levels = self.guide.index_select(0, flat >> (BITS - _GUIDE_BITS))
        unsure = (levels == _UNSURE).nonzero().squeeze(1)
        levels[unsure] = self.look_up(flat[unsure])
        return levels.view(integers.shape)

    def look_up(self, integers: torch.Tensor) -> torch.Tensor:
        """Return the same as `steps`, by comparing with the thresholds alone."""
        return (torch.bucketize(integers, self.edges, right=True) - self.reach).to(torch.int16)


@lru_cache(maxsize=16)
def grid_table(sigma: float, reach: int, device: torch.device) -> GridTable:
    """Return the table for one sigma, kept for the next call."""
    edges = thresholds(sigma, reach)
    starts = np.arange(2**_GUIDE_BITS, dtype=np.int64) << (BITS - _GUIDE_BITS)
    ends = starts + ((1 << (BITS - _GUIDE_BITS)) - 1)
    first = np.searchsorted(edges, starts, side="right")
    sure = first == np.searchsorted(edges, ends, side="right")
    guide = np.where(sure, first - reach, _UNSURE).astype(np.int16)
    return GridTable(torch.from_numpy(edges).to(device), torch.from_numpy(guide).to(device), reach)
