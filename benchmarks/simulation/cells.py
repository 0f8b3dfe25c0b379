"""What is asked of the simulation: every network, procedure and number of workers, and what shards would change."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from typing import Any

from benchmarks.settings import cores
from benchmarks.simulation.costs import DriverCosts, WorkerCosts
from benchmarks.simulation.scenarios import CIFAR, PROCEDURES, SCENARIOS, Scenario
from benchmarks.simulation.simulate import Simulated, simulate

CURVE = (10, 30, 100, 300, 1_000)
MANY = 2_000
"""Images that are enough for a thousand workers."""
SHARDS = (1, 2, 4, 10)
JOB, DELAY = 0.004, 0.0025
"""Seconds that a job costs its worker beside its votes, and of the way to it: what calibrations of a real worker of
this machine found at most. Another machine is further away, by tenths of a millisecond."""
LONGER = 4
"""Times as many rows per batch, to see what longer jobs change."""


class Cells:
    """Simulates by measured costs; every answer is a flat record.

    Args:
        measured: the parts of `benchmarks/results/capacity.json`.
    """

    def __init__(self, measured: dict[str, Any]) -> None:
        self._measured = measured

    def all(self) -> list[dict[str, Any]]:
        """Simulate everything, on all cores."""
        with ProcessPoolExecutor(cores()) as processes:
            under_way = [processes.submit(self.cell, *question) for question in _questions()]
            return [one.result() for one in under_way]

    def cell(
        self,
        scenario: Scenario,
        procedure: str,
        workers: int,
        images: int,
        shards: int = 1,
        longer: int = 1,
    ) -> dict[str, Any]:
        """Simulate one run, or its shards side by side: each with a driver, and its share of workers and images."""
        speed = self._measured["speeds"][scenario.name]
        votes, plan = scenario.votes(images), scenario.plan(procedure)
        runs = [
            simulate(
                plan,
                votes,
                range(first, images, shards),
                workers=workers // shards,
                batch_size=longer * speed["rows"],
                # Images enough for all workers: then jobs cost what CERTIFY's cost, which has always enough.
                driver=self._driver(scenario, procedure if images <= 500 else "fixed", workers // shards),
                worker=WorkerCosts(vote=speed["vote_seconds"], job=JOB, delay=DELAY),
            )
            for first in range(shards)
        ]
        record = {
            "scenario": scenario.name,
            "procedure": procedure,
            "workers": workers,
            "images": images,
            "shards": shards,
            "rows": longer * speed["rows"],
            **_together(runs),
        }
        print(record, flush=True)
        return record

    def _driver(self, scenario: Scenario, procedure: str, workers: int) -> DriverCosts:
        by_workers = self._measured["driver"][scenario.name][procedure]
        measured = {int(number): DriverCosts(**one["costs"]) for number, one in by_workers.items()}
        return DriverCosts.between(measured, workers)


def _questions() -> list[tuple[Any, ...]]:
    """Return the arguments of `Cells.cell`."""
    found: list[tuple[Any, ...]] = [
        (scenario, procedure, workers, scenario.images_by(procedure))
        for scenario in SCENARIOS
        for procedure in PROCEDURES
        for workers in CURVE
    ]
    for shards in SHARDS:
        found += [(CIFAR, "fixed", 1_000, CIFAR.images_by("fixed"), shards)] if shards > 1 else []
        found += [(CIFAR, "group", 1_000, MANY, shards)]
    return [*found, (CIFAR, "fixed", 1_000, CIFAR.images_by("fixed"), 1, LONGER)]


def _together(runs: list[Simulated]) -> dict[str, Any]:
    """Return what shards came to together; the last one to end ends the run."""
    seconds, votes = max(run.seconds for run in runs), sum(run.votes for run in runs)
    slowest = asdict(max(runs, key=lambda run: run.seconds))
    return {
        "seconds": seconds,
        "votes": votes,
        "speed_up": votes * slowest["vote_seconds"] / seconds,
        "driver_share": max(run.driver_share for run in runs),
        "worker_share": sum(run.workers_busy for run in runs) / seconds / sum(run.workers for run in runs),
        "wasted_share": sum(run.wasted for run in runs) / votes,
        "jobs": sum(run.jobs for run in runs),
    }
