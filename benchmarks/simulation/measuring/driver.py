"""What driving workers costs, by their number: the real driver on real Ray, before a crowd that answers at once."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

import smoothcert as sc
from benchmarks.settings import ALPHA
from benchmarks.simulation.measuring.crowd import Crowd
from benchmarks.simulation.measuring.notes import Notes
from benchmarks.simulation.measuring.timed_execution import TimedExecution
from benchmarks.simulation.scenarios import PROCEDURES, SCENARIOS, SEED, WORKERS, Scenario, procedures
from smoothcert.certificates import Procedure

_IMAGES = {10: 30, 100: 80, 1_000: 300}  # of a measurement, by workers
_MOST = 5_000  # votes of CERTIFY that the others match: jobs cost alike, so fewer of them tell as much
_FIXED = 1_000  # votes of CERTIFY itself


def measured_driver(known: dict[str, Any]) -> dict[str, Any]:
    """Return the driver's costs by network, procedure and number of workers."""
    found: dict[str, Any] = {scenario.name: {name: {} for name in PROCEDURES} for scenario in SCENARIOS}
    with Crowd(max(WORKERS)) as crowd:
        for scenario in SCENARIOS:
            speed = known["speeds"][scenario.name]
            for workers in WORKERS:
                for name in PROCEDURES:
                    notes = _driven(crowd, scenario, name, workers, speed)
                    found[scenario.name][name][str(workers)] = told(notes)
                    print(scenario.name, workers, name, told(notes), flush=True)
    return found


def told(notes: Notes) -> dict[str, Any]:
    """Return what a run's notes say of its driver, as plain values."""
    sent = sum(chunks for turn in notes.turns for chunks, _ in turn.sent)
    return {
        "costs": asdict(notes.costs()),
        "jobs": notes.jobs,
        "chunks": sent,
        "thread_seconds_per_job": _busy(notes) / notes.jobs,
        "processor_seconds_per_job": notes.processor / notes.jobs,
        "wall_seconds_per_job": notes.seconds / notes.jobs,
    }


def _busy(notes: Notes) -> float:
    """Return the seconds that the driver's own thread was at work."""
    return sum(
        turn.fetching + turn.thinking + sum(seconds for _, seconds in turn.sent) for turn in notes.turns
    )


def _driven(crowd: Crowd, scenario: Scenario, name: str, workers: int, speed: dict[str, Any]) -> Notes:
    images = _IMAGES[workers]
    procedure = procedures(scenario.radius, _FIXED if name == "fixed" else _MOST)[name]
    crowd.gather(workers, scenario.votes(images, scenario.classes), speed["vote_seconds"], sleeps=False)
    sigma = scenario.histogram.sigma
    return crowd_run(crowd, scenario.shape, scenario.classes, sigma, procedure, images, speed["rows"])[0]


def crowd_run(
    crowd: Crowd,
    shape: tuple[int, ...],
    classes: int,
    sigma: float,
    procedure: Procedure,
    images: int,
    rows: int,
) -> tuple[Notes, sc.Run]:
    """Certify blank images by a gathered crowd and a network that nobody asks, into a run folder that is thrown away.

    Args:
        crowd: who votes.
        shape: of an image.
        classes: how many there are.
        sigma: of the noise.
        procedure: how to spend votes.
        images: how many.
        rows: per batch.
    """
    execution = TimedExecution(crowd, crowd.workers)
    network = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(shape[0], classes)).eval()
    pixels = np.full((images, *shape), 255, dtype=np.uint8)
    names = [str(number) for number in range(classes)]
    dataset = sc.Dataset.from_arrays(
        pixels, np.zeros(images, dtype=np.int64), name="blank", class_names=names
    )
    classifier = sc.SmoothedClassifier(network, sc.Gaussian(sigma), classes)
    with tempfile.TemporaryDirectory() as folder:
        run = sc.certify(
            classifier,
            dataset,
            procedure=procedure,
            alpha=ALPHA,
            seed=SEED,
            engine="torch",
            batch_size=rows,
            out=Path(folder) / "run",
            execution=execution,
            show_progress=False,
        )
    return execution.notes[-1], run
