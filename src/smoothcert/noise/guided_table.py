"""From random words to the number of thresholds that they reach: inverse distribution functions, exact and fast.

A random integer u of 63 bits becomes the number of thresholds that do not exceed it. On the CPU its top 16 bits are
drawn first, and where no threshold lies in the cell of integers that they leave, a guide answers at once; the other 47
bits are drawn for the few others alone. Bits that change nothing are never made. Other devices compare whole integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.noise.words import Words
from smoothcert.on_demand import torch

BITS = 63
"""Bits of the random integers; int64 has one more for the sign."""

# 65,536 cells of two bytes fit a core's cache; of the laws here under 5% of draws fall into a cell with a threshold.
_GUIDE_BITS = 16
_REST = BITS - _GUIDE_BITS
_UNSURE = -(2**15)


@dataclass(frozen=True, eq=False)
class GuidedTable:
    """The thresholds of one distribution.

    Args:
        edges: the thresholds, increasing, as 63-bit integers.
        guide: answer by the top bits of a random integer; a sentinel where they do not decide it.
        offset: taken off every number of thresholds, so that answers may be negative.
        again: whether an integer that reaches all thresholds is none of the law's, and is drawn again.
    """

    edges: NDArray[np.int64]
    guide: NDArray[Any]
    offset: int
    again: bool

    @classmethod
    def of(cls, edges: NDArray[np.int64], *, offset: int = 0, again: bool = False) -> GuidedTable:
        """Return the table of some thresholds, with its guide."""
        starts = np.arange(2**_GUIDE_BITS, dtype=np.int64) << _REST
        first = np.searchsorted(edges, starts, side="right")
        sure = first == np.searchsorted(edges, starts + (2**_REST - 1), side="right")
        if again:
            sure &= first < len(edges)
        narrow = len(edges) - offset < 2**15
        guide = np.where(sure, first - offset, _UNSURE).astype(np.int16 if narrow else np.int32)
        return cls(edges, guide, offset, again)

    def draw(self, words: Words, count: int) -> torch.Tensor:
        """Return so many independent answers on the device of the words."""
        if words.on_cpu:
            return torch.from_numpy(self._guided(words, count))
        edges, last = torch.from_numpy(self.edges).to(words.device), len(self.edges)
        answers = torch.bucketize(self._whole(words, count), edges, right=True)
        while self.again and bool((beyond := answers == last).any()):
            fresh = torch.bucketize(self._whole(words, count), edges, right=True)
            answers = torch.where(beyond, fresh, answers)
        return answers.sub_(self.offset).to(torch.from_numpy(self.guide[:0]).dtype)

    def _whole(self, words: Words, count: int) -> torch.Tensor:
        return words.integers(count).bitwise_and_(2**BITS - 1)

    def _guided(self, words: Words, count: int) -> NDArray[Any]:
        """Return answers by the guide, and by all bits where it has none."""
        cells = words.raw(-(-count // 4)).view(np.uint16)[:count].astype(np.intp)
        found: NDArray[Any] = self.guide.take(cells)
        unsure = np.flatnonzero(found == _UNSURE)
        integers = cells[unsure].astype(np.int64) << _REST
        integers |= (words.raw(len(unsure)) >> np.uint64(64 - _REST)).view(np.int64)
        answers = self.look_up(integers)
        while self.again and len(beyond := np.flatnonzero(answers == len(self.edges) - self.offset)):
            fresh = (words.raw(len(beyond)) >> np.uint64(64 - BITS)).view(np.int64)
            answers[beyond] = self.look_up(fresh)
        found[unsure] = answers
        return found

    def look_up(self, integers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the answers of 63-bit integers, by comparing with the thresholds alone."""
        return self.edges.searchsorted(integers, side="right") - self.offset
