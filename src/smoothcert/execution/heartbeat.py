"""How a run is getting on, told now and then to whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Heartbeat:
    """What one start of a run has done so far. Nothing rests on it: it is for people who wait.

    Args:
        decided: images decided since this start.
        under_way: images begun and not decided.
        votes: drawn since this start, over all images.
        seconds: since this start.
        votes_per_second: over the last seconds; None while nothing tells.
        seconds_left: until all images are decided, as far as can be told; None while nothing tells.
        workers: that draw.
        workers_lost: that drew and are gone.
    """

    decided: int
    under_way: int
    votes: int
    seconds: float
    votes_per_second: float | None
    seconds_left: float | None
    workers: int
    workers_lost: int = 0
