"""A pool of workers that exist only as times: the product's schedule drives it as it drives Ray's."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np

from benchmarks.simulation.costs import DriverCosts, WorkerCosts
from benchmarks.simulation.made_up_votes import Votes
from smoothcert.execution.cluster.ray_pool import RayPool
from smoothcert.sampling import Chunk, ChunkVotes, ImageFault


class Clock:
    """The time of the driver's thread, in seconds since the start; `busy` are those that it did not wait."""

    def __init__(self) -> None:
        self.now = self.busy = 0.0

    def spend(self, seconds: float) -> None:
        """Let the driver work."""
        self.now += seconds
        self.busy += seconds

    def wait_until(self, moment: float) -> None:
        """Let the driver wait; a moment that has passed is not waited for."""
        self.now = max(self.now, moment)


class SimulatedPool:
    """Workers as events: a job arrives, is drawn after those before it, and its answer comes back.

    As with `RayPool`, a job goes to the worker that has fewest, and of the answers that are there that of the first
    worker is taken. Not able to lose a worker.

    Args:
        clock: the driver's.
        workers: how many there are.
        driver: what sending and taking costs it.
        worker: what drawing costs them; all are alike.
        votes: what each chunk brings.
    """

    job_scale: ClassVar[int] = RayPool.job_scale
    lost: ClassVar[int] = 0
    note: ClassVar[str] = ""

    def __init__(
        self, clock: Clock, workers: int, *, driver: DriverCosts, worker: WorkerCosts, votes: Votes
    ) -> None:
        self.workers, self.outstanding = workers, 0
        self.jobs = 0
        self.worked = 0.0  # seconds of all workers
        self._clock, self._driver, self._worker, self._votes = clock, driver, worker, votes
        self._held = [0] * workers  # jobs that each has
        self._free_at = [0.0] * workers
        self._least_held = [
            (0, number) for number in range(workers)
        ]  # a heap; entries that are out of date stay
        self._coming: list[tuple[float, int, int]] = []  # heap of answers: when, whose, number of the job
        self._there: list[tuple[int, int]] = []  # heap of those that have come: whose, number of the job
        self._under_way: dict[int, tuple[Sequence[Any], Sequence[Chunk]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def submit(self, tags: Sequence[Any], chunks: Sequence[Chunk]) -> None:
        """Hand in one batch; when its answer will come is known at once, as workers do nothing else."""
        self._clock.spend(self._driver.job_sent + self._driver.chunk_sent * len(chunks))
        who, job = self._next_worker(), self.jobs
        seconds = self._worker.job + self._worker.vote * sum(chunk.votes for chunk in chunks)
        end = max(self._clock.now + self._worker.delay, self._free_at[who]) + seconds
        self._free_at[who] = end
        self.worked += seconds
        self.jobs, self.outstanding = self.jobs + 1, self.outstanding + 1
        self._under_way[job] = (tags, chunks)
        heapq.heappush(self._coming, (end + self._worker.delay, who, job))

    def _next_worker(self) -> int:
        while True:
            held, number = heapq.heappop(self._least_held)
            if held == self._held[number]:
                self._now_holds(number, held + 1)
                return number

    def _now_holds(self, number: int, jobs: int) -> None:
        self._held[number] = jobs
        heapq.heappush(self._least_held, (jobs, number))

    def collect(self) -> list[tuple[Any, ChunkVotes | ImageFault]]:
        """Wait for one answer and return its (tag, votes) pairs."""
        if not self._there:
            self._clock.wait_until(self._coming[0][0])
        while self._coming and self._coming[0][0] <= self._clock.now:
            _, who, job = heapq.heappop(self._coming)
            heapq.heappush(self._there, (who, job))
        who, job = heapq.heappop(self._there)
        self._now_holds(who, self._held[who] - 1)
        self.outstanding -= 1
        tags, chunks = self._under_way.pop(job)
        self._clock.spend(self._driver.answer + self._driver.chunk_taken * len(chunks))
        return [(tag, self._drawn(chunk)) for tag, chunk in zip(tags, chunks, strict=True)]

    def _drawn(self, chunk: Chunk) -> ChunkVotes:
        votes = self._votes.of(chunk.index, chunk.phase, chunk.number, chunk.votes)
        return ChunkVotes(votes[None], np.array([chunk.votes]), chunk.votes * self._worker.vote)
