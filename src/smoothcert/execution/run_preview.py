"""What a trial before a run told: votes, pace and time to start, as a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smoothcert.execution.pilot import Pilot
from smoothcert.execution.preview import Cost
from smoothcert.execution.trial import Speed

_LONG = 60.0  # seconds from which on it is worth shortening
_OVERHEAD = 1.1  # of a run over the pace of a trial: votes drawn in vain, storing, the last images alone
_START_SPREAD = 2.0  # of the time to start, which other programs and cold files lengthen


@dataclass(frozen=True, eq=False)
class RunPreview:
    """The cost of a run by the procedure asked for and by others, as far as a trial tells.

    Not a promise: votes lie in their range for 95% of runs, times take the machine to be as busy as it was.

    Args:
        costs: by procedure, the one asked for first.
        speeds: by number of workers, increasing.
        here: the one of `speeds` with the run's number of workers.
        pilot: the votes of the trial.
        images: number of images of the run.
        set_up: seconds until the first vote.
        engine: name of the engine, and why it was taken where that was left open.
        memory_mb: what the run is expected to take up, in MB.
        trial_seconds: how long the trial was to take.
        autocast_gain: how many times as fast the engine autocast is; 1 where it was not tried.
    """

    costs: Sequence[Cost]
    speeds: Sequence[Speed]
    here: Speed
    pilot: Pilot
    images: int
    set_up: float
    engine: str
    memory_mb: float
    trial_seconds: float
    autocast_gain: float = 1.0

    def seconds(
        self, cost: Cost, speed: Speed | None = None, images: int | None = None
    ) -> tuple[float, float]:
        """Return the shortest and the longest time that a run may take.

        Args:
            cost: of the procedure.
            speed: of the workers; the run's by default.
            images: number of images; the run's by default.
        """
        speed, images = speed or self.here, self.images if images is None else images
        quick, slow = images * cost.votes.low / speed.fastest, images * cost.votes.high / speed.slowest
        return self.set_up + quick, _START_SPREAD * self.set_up + slow * _OVERHEAD

    @property
    def is_long(self) -> bool:
        """Whether the run may take so long that it is worth shortening."""
        return self.seconds(self.costs[0])[1] >= _LONG
