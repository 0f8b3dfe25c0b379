"""Measuring: rivals take turns in one run; medians with their spread; ratios between neighbours in time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

Draw = Callable[[], int]
"""One piece of work; returns the votes it drew."""

_PAUSE = 0.1  # lets the threads of the last rival go to sleep


@dataclass(frozen=True)
class Claim:
    """What a rival says about one image. Not a certificate: it keeps no counts.

    Args:
        predicted: the class, or None on abstention.
        radius: certified radius in pixel units.
        votes: votes drawn, those that chose the class included.
    """

    predicted: int | None
    radius: float
    votes: int


@dataclass(frozen=True)
class Measurement:
    """One timed piece of work: a row of the raw results."""

    part: str
    network: str
    rival: str
    repetition: int
    votes: int
    seconds: float

    @property
    def seconds_per_vote(self) -> float:
        """Seconds that one vote took."""
        return self.seconds / self.votes

    def row(self) -> dict[str, Any]:
        """Return the measurement as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Spread:
    """The median of several values, with the smallest and the largest."""

    median: float
    low: float
    high: float
    count: int

    def show(self, digits: int) -> str:
        """Return "median (low to high)"."""
        return f"{self.median:,.{digits}f} ({self.low:,.{digits}f} to {self.high:,.{digits}f})"


def spread(values: Sequence[float]) -> Spread:
    """Return median, smallest and largest of at least one value."""
    return Spread(float(np.median(values)), float(min(values)), float(max(values)), len(values))


def timed(draw: Draw) -> tuple[int, float]:
    """Do one piece of work; return its votes and seconds."""
    gc.collect()
    time.sleep(_PAUSE)
    start = time.perf_counter()
    votes = draw()
    return votes, time.perf_counter() - start


def alternate(part: str, network: str, rivals: Mapping[str, Draw], repetitions: int) -> list[Measurement]:
    """Measure the rivals in turn, A B C A B C .., so that a slow minute of the machine hits all of them.

    Args:
        part: name of the benchmark's part.
        network: name of the network.
        rivals: work by name, already warm.
        repetitions: rounds.
    """
    return [
        Measurement(part, network, rival, repetition, *timed(draw))
        for repetition in range(repetitions)
        for rival, draw in rivals.items()
    ]


def whole_batches(votes: float, batch: int) -> int:
    """Return about as many votes, in whole batches, at least one."""
    return max(round(votes / batch), 1) * batch


def of_rival(measurements: Sequence[Measurement], rival: str) -> list[Measurement]:
    """Return the measurements of one rival, in the order of the rounds."""
    return [m for m in measurements if m.rival == rival]


def rate(measurements: Sequence[Measurement], rival: str) -> Spread:
    """Return a rival's votes per second."""
    return spread([1 / m.seconds_per_vote for m in of_rival(measurements, rival)])


def ratio(measurements: Sequence[Measurement], slower: str, faster: str) -> Spread:
    """Return how many times longer a vote of `slower` takes, round by round: neighbours in time are compared."""
    pairs = zip(of_rival(measurements, slower), of_rival(measurements, faster), strict=True)
    return spread([a.seconds_per_vote / b.seconds_per_vote for a, b in pairs])


def cost_of(large: Measurement, small: Measurement) -> tuple[float, float]:
    """Return the fixed seconds and the seconds per further vote that two sizes of the same work show."""
    slope = (large.seconds - small.seconds) / (large.votes - small.votes)
    return small.seconds - slope * small.votes, slope


def fitted_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of log seconds over log size: 1 for linear cost."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
