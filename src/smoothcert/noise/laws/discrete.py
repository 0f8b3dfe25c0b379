"""Discrete replacement: l0 radii (Lee et al. 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import override

from smoothcert.arguments import is_whole
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise.domain import checked_probability, checked_radius, plain
from smoothcert.noise.guided_table import BITS, GuidedTable
from smoothcert.noise.law import NoiseLaw
from smoothcert.noise.replacement_threshold import replacement_threshold, threshold_above, threshold_below
from smoothcert.noise.words import Words, in_blocks
from smoothcert.on_demand import torch
from smoothcert.visible import brief

MOST_COORDINATES = 4_096
"""Largest radius looked for, in coordinates: beyond it the exact numbers become slow, and no votes reach it."""

_MOST_CELLS = 2**50  # so that under one draw in 8,000 has to be repeated


@dataclass(frozen=True)
class DiscreteReplacement(NoiseLaw):
    """Each coordinate keeps its value with probability `keep`, else takes one of the others: radii in l0.

    A radius is a number of coordinates (channels count singly) that may be changed at will. An image is first
    rounded to the `levels` values 0, 1/K, .., 1 with K = levels - 1, in training and in certification alike; for
    two levels a pixel is 1 where it exceeds 1/2. The rounding is part of the smoothed classifier, and whoever
    changes r pixels changes at most r rounded ones, so a certificate is about the image as it was given.

    Not additive: methods that need the noise apart from the image do not take it. Thresholds are exact rational
    numbers; the draw is exact too.

    Args:
        keep: probability that a coordinate keeps its value, read as a decimal (.8 is 4/5); above 1/levels, below 1.
        levels: number of values a coordinate can take: 2 for black and white, 256 for bytes.
    """

    keep: float
    levels: int = 2
    norm: ClassVar[str] = "l0"
    holds_in_floats: ClassVar[bool] = True
    is_additive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not is_whole(self.levels, 2, 2**16):
            raise InvalidArgumentError(
                "levels must be an integer from 2 to 65536 (2: black and white, 256: bytes), got "
                f"{brief(self.levels)}"
            )
        number = isinstance(self.keep, int | float | np.integer | np.floating) and not isinstance(
            self.keep, bool
        )
        if not number or not 1 / self.levels < self.keep < 1 or self.fraction * self.levels <= 1:
            raise InvalidArgumentError(
                f"keep must be a probability above 1/levels = {1 / self.levels:g}, where nothing is left of the "
                f"image, and below 1, got {brief(self.keep)}"
            )

        if self.fraction.denominator * (self.levels - 1) > _MOST_CELLS:
            raise InvalidArgumentError(
                f"keep {self.keep!r} has too many digits to be drawn exactly among {self.levels} levels; round it, "
                "such as to 0.333"
            )

    @property
    def fraction(self) -> Fraction:
        """The keep probability as the exact fraction that its decimal digits say."""
        return Fraction(Decimal(repr(float(self.keep))))

    @property
    @override
    def std(self) -> float:
        return 1.0

    @override
    def parameters(self) -> dict[str, Any]:
        return {"keep": float(self.keep), "levels": self.levels}

    @override
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        others = self.levels - 1
        level = torch.round(image * others).clamp_(0, others)
        table, words = _table(self.fraction, others), Words(generator)
        for block in in_blocks(out):
            drawn = table.draw(words, block.numel()).view(block.shape)
            block.copy_(drawn)
            if others == 1:
                torch.sub(level, block, out=block).abs_()
                continue
            block -= 1
            block += block >= level  # the K others, in order, leave out the image's own
            torch.where(drawn == 0, level, block, out=block).div_(others)

    def radius(self, p_lower: ArrayLike) -> Any:
        """Return the largest number of coordinates that a class probability of at least `p_lower` guarantees."""
        p = checked_probability("p_lower", p_lower)
        values, places = np.unique(p, return_inverse=True)
        radii = np.array([self._largest(float(value)) for value in values], dtype=np.float64)
        return plain(radii[places].reshape(p.shape))

    def threshold(self, radius: ArrayLike) -> Any:
        """Return the class probability that must be exceeded to certify `radius` coordinates (rounded up)."""
        r = checked_radius(radius)
        values, places = np.unique(np.ceil(r), return_inverse=True)
        thresholds = np.array([self._needed(value) for value in values], dtype=np.float64)
        return plain(thresholds[places].reshape(r.shape))

    def exact_threshold(self, radius: int) -> Fraction:
        """Return the probability that must be exceeded to certify `radius` coordinates, as an exact fraction."""
        return replacement_threshold(self.fraction, self.levels, radius)

    def _needed(self, radius: float) -> float:
        return 1.0 if radius > MOST_COORDINATES else threshold_above(self.fraction, self.levels, int(radius))

    def _largest(self, p: float) -> float:
        """Return the largest radius whose threshold is below p, by doubling and then halving."""
        if p == 1:
            return math.inf  # every noisy image is possible, so all of them get the class
        keep, low, high = self.fraction, 0, 1
        while high <= MOST_COORDINATES and p > threshold_below(keep, self.levels, high):
            low, high = high, 2 * high
        if low == MOST_COORDINATES:
            return float(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if p > threshold_below(keep, self.levels, middle) else (low, middle)
        return float(low)


@lru_cache(maxsize=16)
def _table(keep: Fraction, others: int) -> GuidedTable:
    """Return the table whose answers are 0 to keep a value and 1 .. K to take one of the others."""
    edges, again = _edges(keep, others)
    return GuidedTable.of(edges, again=again)


def _edges(keep: Fraction, others: int) -> tuple[NDArray[np.int64], bool]:
    """Cut the 63-bit integers into equal cells: the first integer of every other value, and whether some are left over.

    Exact: the few integers left over by the division, from the last edge on, are to be drawn again. Where nothing is
    left over there is no such edge: it would be 2^63, which no int64 holds.
    """
    cells = keep.denominator * others
    size = 2**BITS // cells
    kept, each = keep.numerator * others * size, (keep.denominator - keep.numerator) * size
    again = cells * size < 2**BITS
    return np.array([kept + each * place for place in range(others + again)], dtype=np.int64), again
