"""Which of a table's published orders came out again, by the same images certified with both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any

from smoothcert.report.comparing.compare import compare_summaries
from smoothcert.report.reproduction.row import ReproducedRow
from smoothcert.report.summary import CONFIDENCE


class Verdict(Enum):
    """What became of a published order; the members are what is said of it."""

    CLEAR = "came out, and the paired interval excludes 0"
    LEANING = "came out, but the paired interval does not exclude 0"
    OPEN = "did not come out, but the paired interval does not exclude it"
    CONTRADICTED = "did not come out: the paired interval excludes it"

    @property
    def came_out(self) -> bool:
        """Whether the own figures are in the published order."""
        return self in (Verdict.CLEAR, Verdict.LEANING)


@dataclass(frozen=True)
class Order:
    """Two rows of which a paper prints different ACRs.

    Args:
        better: the row of the larger published ACR.
        worse: the other.
        published: by how much, in the paper; on a grid, by the published accuracies at its radii.
        own: the same difference in the own figures; negative where the order is the other way round.
        interval: approximate 95% interval of it, over the images, paired; None where there is none.
    """

    better: str
    worse: str
    published: float
    own: float
    interval: tuple[float, float] | None

    @property
    def verdict(self) -> Verdict:
        """What became of it."""
        low, high = (0.0, 0.0) if self.interval is None else self.interval
        if self.own > 0:
            return Verdict.CLEAR if low > 0 else Verdict.LEANING
        return Verdict.CONTRADICTED if high < 0 else Verdict.OPEN

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "verdict": self.verdict.name.lower()}


def published_orders(rows: Sequence[ReproducedRow]) -> tuple[Order, ...]:
    """Return every pair of rows whose published ACRs differ, with what became of it.

    Not a test of all orders at once: each interval has its own 95%.

    Args:
        rows: of one part of a table, certified on the same images with the same noise.
    """
    told = [(row, row.published_acr) for row in rows if row.published_acr is not None]
    found = []
    for (one, first), (other, second) in combinations(told, 2):
        if math.isclose(first, second):  # equal accuracies may add up to other last bits
            continue
        better, worse = (one, other) if first > second else (other, one)
        found.append(_order(better, worse, abs(first - second)))
    return tuple(found)


def _order(better: ReproducedRow, worse: ReproducedRow, published: float) -> Order:
    interval = None
    if not (better.is_envelope or worse.is_envelope):  # whose members were chosen by these images
        interval = compare_summaries(
            worse.summary, better.summary, radii=[0.0], confidence=CONFIDENCE, common=False
        ).acr_interval
    return Order(better.name, worse.name, published, better.acr - worse.acr, interval)
