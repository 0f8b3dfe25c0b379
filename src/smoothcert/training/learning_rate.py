"""Learning-rate schedules by name: how far training has come -> the share of the largest learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from smoothcert.registry import Table

_RISE = 0.3  # part of a one-cycle training in which the learning rate rises
_FIRST_DROP = 1 / 3  # of schedules without drops: where the papers' step schedules drop first

# From the number of the step (from 0), steps in all, and milestones as parts of the whole, to a share of the peak.
Schedule = Callable[[int, int, Sequence[float]], float]

SCHEDULES: Table[Schedule] = Table("schedule")


@SCHEDULES.register("one-cycle")
def one_cycle(step: int, steps: int, milestones: Sequence[float]) -> float:
    """Rise in a straight line to 1, then half a cosine down to 0."""
    rise = _RISE * steps
    if step + 1 < rise:
        return (step + 1) / rise
    return (1 + math.cos(math.pi * (step + 1 - rise) / (steps + 1 - rise))) / 2


@SCHEDULES.register("cosine")
def cosine(step: int, steps: int, milestones: Sequence[float]) -> float:
    """Half a cosine from 1 down to 0."""
    return (1 + math.cos(math.pi * step / steps)) / 2


@SCHEDULES.register("step")
def step_down(step: int, steps: int, milestones: Sequence[float]) -> float:
    """1, and a tenth of what it was from each milestone on."""
    return float(10.0 ** -sum(step >= round(part * steps) for part in milestones))


def has_dropped(step: int, steps: int, milestones: Sequence[float]) -> bool:
    """Say whether the learning rate has dropped for the first time: what deferred losses wait for."""
    return step >= round((min(milestones) if milestones else _FIRST_DROP) * steps)
