"""How fast one core draws the votes of the simulated networks."""

from __future__ import annotations

import time
from typing import Any

import torch

import smoothcert as sc
from benchmarks.networks import load
from benchmarks.settings import ALPHA, PLANNED_VOTES
from benchmarks.simulation.scenarios import SCENARIOS, Scenario
from smoothcert.engines import single_threaded_torch
from smoothcert.sampling import CHUNK_VOTES, Chunk, check_batch_size

ENGINE = "onnx"
"""What "auto" takes for ResNet-110 here; to choose for ResNet-50 would take minutes."""
_SECONDS = 10.0  # of measuring, at least


def measured_speeds(known: dict[str, Any]) -> dict[str, Any]:
    """Return seconds per vote and rows per batch of each network, on ONNX Runtime."""
    return {scenario.name: _speed(scenario) for scenario in SCENARIOS}


def _speed(scenario: Scenario) -> dict[str, Any]:
    network = load(scenario.network)
    classifier = sc.SmoothedClassifier(network.model, sc.Gaussian(scenario.histogram.sigma), scenario.classes)
    source = classifier.certification(
        sc.FixedSample(n=PLANNED_VOTES), alpha=ALPHA, seed=1, engine=ENGINE, example=network.image
    )
    rows = check_batch_size(None, network.image, source.engine)
    sampler, together = source.sampler(rows), max(1, rows // CHUNK_VOTES)

    def draw(number: int) -> None:
        chunks = range(number * together, (number + 1) * together)
        sampler.draw([Chunk(network.image, 0, "estimate", one, CHUNK_VOTES) for one in chunks])

    with single_threaded_torch():
        torch.set_num_threads(1)
        draw(0)
        begin, batches = time.perf_counter(), 0
        while time.perf_counter() - begin < _SECONDS:
            batches += 1
            draw(batches)
        seconds = time.perf_counter() - begin
    votes = batches * together * CHUNK_VOTES
    told = {"engine": source.engine.engine_name, "rows": rows, "vote_seconds": seconds / votes}
    print(f"{scenario.title}: {votes / seconds:.1f} votes per second of one core, {told}", flush=True)
    return told
