"""One run on a made-up cluster: how long it takes, and what it spends its time on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from benchmarks.simulation.costs import DriverCosts, WorkerCosts
from benchmarks.simulation.made_up_votes import Votes
from benchmarks.simulation.simulated_pool import Clock, SimulatedPool
from smoothcert.certificates import Plan, Verdict
from smoothcert.sampling import ImageSampling, run_schedule


@dataclass(frozen=True)
class Simulated:
    """What a simulated run came to.

    Args:
        workers: how many drew.
        seconds: from the first image opened to the last one written and the last answer.
        votes: that certificates rest on.
        wasted: votes drawn beyond the looks that decided.
        jobs: sent to workers.
        driver_busy: seconds that the driver did not wait.
        workers_busy: seconds that workers drew, over all of them.
        vote_seconds: of one worker.
    """

    workers: int
    seconds: float
    votes: int
    wasted: int
    jobs: int
    driver_busy: float
    workers_busy: float
    vote_seconds: float

    @property
    def speed_up(self) -> float:
        """How many times as fast as one worker that draws these votes, and never waits."""
        return self.votes * self.vote_seconds / self.seconds

    @property
    def driver_share(self) -> float:
        """Part of the time that the driver was busy: 1 where it sets the pace."""
        return self.driver_busy / self.seconds

    @property
    def worker_share(self) -> float:
        """Part of the time that a worker was busy, on average."""
        return self.workers_busy / self.seconds / self.workers


def simulate(
    plan: Plan,
    votes: Votes,
    indices: Sequence[int],
    *,
    workers: int,
    batch_size: int,
    driver: DriverCosts,
    worker: WorkerCosts,
) -> Simulated:
    """Certify images on made-up workers; looks, decisions, look-ahead and batching are the product's own.

    Args:
        plan: the procedure, bound to noise and alpha.
        votes: what each chunk of an image brings.
        indices: the images.
        workers: how many draw.
        batch_size: rows per batch.
        driver: what it costs to drive them.
        worker: what a vote and a job cost them.
    """
    clock = Clock()
    pool = SimulatedPool(clock, workers, driver=driver, worker=worker, votes=votes)
    nothing = torch.empty(0)
    opened: list[ImageSampling[Verdict]] = []

    def samplings() -> Iterator[ImageSampling[Verdict]]:
        for index in indices:
            clock.spend(driver.image_opened)
            opened.append(ImageSampling(index, nothing, plan.phases, plan.start(), votes.classes))
            yield opened[-1]

    with pool:
        for _ in run_schedule(samplings(), pool, batch_size=batch_size):
            clock.spend(driver.image_written)
    return Simulated(
        workers=workers,
        seconds=clock.now,
        votes=sum(one.votes_counted for one in opened),
        wasted=sum(one.wasted for one in opened),
        jobs=pool.jobs,
        driver_busy=clock.busy,
        workers_busy=pool.worked,
        vote_seconds=worker.vote,
    )
