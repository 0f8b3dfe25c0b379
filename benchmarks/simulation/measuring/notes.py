"""What the driver of one run did, turn by turn, and what each thing cost it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from benchmarks.simulation.costs import DriverCosts


@dataclass
class Turn:
    """From one answer to the next: what the driver did, and the seconds that it took.

    `thinking` is all but sending and fetching: it takes votes in, looks, writes certificates, opens images.
    """

    fetching: float = 0.0  # seconds of the thread, without waiting
    taken: int = 0  # chunks of the answer
    thinking: float = 0.0  # seconds of the clock, because writing a file may wait for the disk
    written: int = 0  # images
    opened: int = 0
    sent: list[tuple[int, float]] = field(default_factory=list)  # chunks and seconds of each job


@dataclass
class Notes:
    """What a run took, from its first job to its last answer taken in, when all workers are there."""

    turns: list[Turn] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0  # seconds of all threads of the driver, Ray's own among them
    votes: int = 0  # drawn, also those in vain
    worked: float = 0.0  # seconds of workers, as they say

    @property
    def jobs(self) -> int:
        """How many there were."""
        return sum(len(turn.sent) for turn in self.turns)

    def costs(self) -> DriverCosts:
        """Return what each thing cost, by least squares over turns; nothing costs less than nothing."""
        turns = [turn for turn in self.turns if turn.taken]
        sent = [job for turn in self.turns for job in turn.sent]
        job_sent, chunk_sent = _fitted([[1, chunks] for chunks, _ in sent], [seconds for _, seconds in sent])
        fetched, chunk_fetched = _fitted(
            [[1, turn.taken] for turn in turns], [turn.fetching for turn in turns]
        )
        thought, chunk_thought, written, opened = _fitted(
            [[1, turn.taken, turn.written, turn.opened] for turn in turns], [turn.thinking for turn in turns]
        )
        return DriverCosts(
            job_sent=job_sent,
            chunk_sent=chunk_sent,
            answer=fetched + thought,
            chunk_taken=chunk_fetched + chunk_thought,
            image_opened=opened,
            image_written=written,
        )


def _fitted(causes: Sequence[Sequence[int]], seconds: Sequence[float]) -> list[float]:
    """Return the costs of causes that explain the seconds best, and whose sum is right on the whole."""
    table, found = np.asarray(causes, dtype=np.float64), np.asarray(seconds)
    costs: NDArray[np.float64] = nnls(table, found)[0]
    scale = float(found.sum() / max((table @ costs).sum(), 1e-12))
    return [float(cost) * scale for cost in costs]
