"""Part "speed": votes per second of every rival on every network, in turns."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks import cohen_loop
from benchmarks.art_rival import art_draw
from benchmarks.bare_forward import BareForward
from benchmarks.machine import peak_gflops
from benchmarks.measure import (
    Draw,
    Measurement,
    alternate,
    cost_of,
    of_rival,
    rate,
    ratio,
    spread,
    timed,
    whole_batches,
)
from benchmarks.networks import Network, load
from benchmarks.ours import Ours
from benchmarks.report import Part
from benchmarks.settings import N0, NUM_CLASSES, PLANNED_VOTES, SIGMA, Settings
from benchmarks.speed_table import ART, BARE, BEST, COHEN, FEW, LEAST_FACTOR, OURS, render
from smoothcert.networks import forward_flops

__all__ = ["render", "run"]


def run(settings: Settings) -> Part:
    """Measure all networks, and the machine's peak between them; the highest peak is the one that counts."""
    rows, networks, peaks = [], {}, [peak_gflops(settings.peak_seconds).high]
    for name in settings.networks:
        print(f"speed: {name}", flush=True)
        measurements, networks[name] = measure_network(load(name), settings)
        rows += [m.row() for m in measurements]
        peaks.append(peak_gflops(settings.peak_seconds).high)
    for found in networks.values():
        found["share_of_peak"] = {
            rival: votes["median"] * found["flops_per_vote"] / (max(peaks) * 1e9)
            for rival, votes in found["votes_per_second"].items()
        }
    return Part(rows, {"peak_gflops": asdict(spread(peaks)), "networks": networks})


def measure_network(network: Network, settings: Settings) -> tuple[list[Measurement], dict[str, Any]]:
    """Calibrate, let the rivals take turns, and sum up."""
    ours = Ours(network.model, network.image, engine=settings.engine, workers=settings.workers)
    bare = BareForward(ours.engine, network.image, workers=settings.workers, batch=ours.batch)
    per_vote = cohen_loop.seconds_per_vote(
        network.model,
        network.image,
        settings.batches,
        settings.calibration_seconds,
        sigma=SIGMA,
        num_classes=NUM_CLASSES,
    )
    best = min(per_vote, key=per_vote.__getitem__)
    rivals = _fast(network, settings, ours, bare)
    for name, batch in ((COHEN, cohen_loop.DOCUMENTED_BATCH), (BEST, best)):
        rivals[name] = _cohen(network, whole_batches(settings.seconds / per_vote[batch], batch), batch)
    if importlib.util.find_spec("art") is not None:
        rivals[ART] = art_draw(network, settings.seconds)
    rows = alternate("speed", network.name, rivals, settings.repetitions)
    return rows, {
        "engine": ours.engine.engine_name,
        "setup_seconds": ours.setup_seconds,
        "rows_per_batch": ours.batch,
        "best_batch": best,
        "cohen_seconds_per_vote": {str(batch): seconds for batch, seconds in per_vote.items()},
        "flops_per_vote": forward_flops(network.model, network.image),
        "votes_per_second": {name: asdict(rate(rows, name)) for name in rivals if name != FEW},
        "votes_of_ours": of_rival(rows, OURS)[0].votes,
        "overhead": asdict(ratio(rows, OURS, BARE)),
        **_overhead_by_default(rows),
        "factor": {name: asdict(ratio(rows, name, OURS)) for name in LEAST_FACTOR if name in rivals},
    }


def _overhead_by_default(rows: Sequence[Measurement]) -> dict[str, Any]:
    """Return the fixed seconds of one certification, and the overhead they leave at the default n = 100,000."""
    rounds = list(zip(*(of_rival(rows, name) for name in (OURS, FEW, BARE)), strict=True))
    costs = [cost_of(large, small) for large, small, _ in rounds]
    votes = N0 + PLANNED_VOTES
    overheads = [
        (fixed + slope * votes) / (bare.seconds_per_vote * votes)
        for (fixed, slope), (_, _, bare) in zip(costs, rounds, strict=True)
    ]
    return {
        "fixed_seconds": asdict(spread([fixed for fixed, _ in costs])),
        "overhead_by_default": asdict(spread(overheads)),
    }


def _fast(network: Network, settings: Settings, ours: Ours, bare: BareForward) -> dict[str, Draw]:
    """Return ours and the bare forward pass with the same number of votes."""
    together = settings.workers * ours.batch
    drawn, seconds = timed(lambda: bare(2 * together))
    n = max(whole_batches(settings.seconds * drawn / seconds, together), settings.least_batches * together)
    return {
        BARE: lambda: bare(N0 + n),
        OURS: lambda: ours.certify(network.image, n).votes,
        FEW: lambda: ours.certify(network.image, together).votes,
    }


def _cohen(network: Network, n: int, batch: int) -> Draw:
    def draw() -> int:
        claim = cohen_loop.certify(
            network.model, network.image, n, batch, sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0
        )
        return claim.votes

    return draw
