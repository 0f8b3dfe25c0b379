"""Real drivers before crowds that sleep as long as their votes would take, and what simulation says of them."""

from __future__ import annotations

from typing import Any

import smoothcert as sc
from benchmarks.settings import ALPHA
from benchmarks.simulation.cells import DELAY
from benchmarks.simulation.costs import DriverCosts, WorkerCosts
from benchmarks.simulation.measuring.crowd import Crowd
from benchmarks.simulation.measuring.driver import crowd_run
from benchmarks.simulation.scenarios import CIFAR, procedures
from benchmarks.simulation.simulate import simulate

RUNS = {  # images and votes of CERTIFY by workers and procedure: some seconds each
    (10, "fixed"): (20, 1_000),
    (10, "group"): (60, 1_000),
    (100, "fixed"): (40, 5_000),
    (100, "group"): (500, 1_000),
    (1_000, "fixed"): (40, 6_000),
    (1_000, "group"): (600, 1_000),
}


def measured_crowds(known: dict[str, Any]) -> dict[str, Any]:
    """Return seconds of real drivers and of simulated ones, by number of workers and procedure."""
    speed, found = known["speeds"][CIFAR.name], {}
    worker = WorkerCosts(vote=speed["vote_seconds"], delay=DELAY)
    with Crowd(max(workers for workers, _ in RUNS)) as crowd:
        for (workers, name), (images, most) in RUNS.items():
            procedure = procedures(CIFAR.radius, most)[name]
            votes = CIFAR.votes(images)
            crowd.gather(workers, votes, worker.vote, sleeps=True)
            notes, _ = crowd_run(
                crowd, CIFAR.shape, CIFAR.classes, CIFAR.histogram.sigma, procedure, images, speed["rows"]
            )
            simulated = simulate(
                procedure.plan(sc.Gaussian(CIFAR.histogram.sigma), ALPHA),
                votes,
                range(images),
                workers=workers,
                batch_size=speed["rows"],
                driver=DriverCosts(**known["driver"][CIFAR.name][name][str(workers)]["costs"]),
                worker=worker,
            )
            found[f"{workers} {name}"] = {
                "images": images,
                "real_seconds": notes.seconds,
                "real_jobs": notes.jobs,
                "real_drawn": notes.votes,
                "simulated_seconds": simulated.seconds,
                "simulated_jobs": simulated.jobs,
                "simulated_drawn": simulated.votes + simulated.wasted,
                "simulated_over_real": simulated.seconds / notes.seconds,
                "driver_processor_share": notes.processor / notes.seconds,
            }
            print(workers, name, found[f"{workers} {name}"], flush=True)
    return {"vote_seconds": worker.vote, "runs": found}
