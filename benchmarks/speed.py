"""Part "speed": votes per second of every rival on every network, in turns."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from benchmarks import cohen_loop
from benchmarks.art_rival import ArtRival
from benchmarks.bare_forward import BareForward
from benchmarks.machine import peak_gflops
from benchmarks.measure import Draw, Measurement, alternate, rate, ratio, timed
from benchmarks.networks import Network, load
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import N0, NUM_CLASSES, SIGMA, Settings
from smoothcert.models import forward_flops

BARE, OURS, COHEN, BEST, ART = "bare forward", "ours", "Cohen, batch 1000", "Cohen, best batch", "ART"
MOST_OVERHEAD = {"lenet": 1.10, "resnet20": 1.05, "resnet110": 1.05}
LEAST_FACTOR = {
    COHEN: {"lenet": 2.5, "resnet20": 3.5, "resnet110": 3.0},
    BEST: {"lenet": 2.2, "resnet20": 1.6, "resnet110": 1.4},
    ART: {"lenet": 4.0, "resnet20": 4.0, "resnet110": 3.3},
}


def run(settings: Settings) -> Part:
    """Measure all networks, and the machine's peak before them."""
    peak = peak_gflops(settings.peak_seconds)
    rows, networks = [], {}
    for name in settings.networks:
        print(f"speed: {name}", flush=True)
        measurements, networks[name] = measure_network(load(name), settings, peak.median)
        rows += [m.row() for m in measurements]
    return Part(rows, {"peak_gflops": asdict(peak), "networks": networks})


def measure_network(
    network: Network, settings: Settings, peak: float
) -> tuple[list[Measurement], dict[str, Any]]:
    """Calibrate, let the rivals take turns, and sum up; `peak` in GFLOP/s."""
    ours = Ours(network.model, network.image, engine=settings.engine, workers=settings.workers)
    bare = BareForward(ours.engine, network.image, workers=settings.workers, batch=ours.batch)
    how = {"sigma": SIGMA, "num_classes": NUM_CLASSES}
    per_vote = cohen_loop.seconds_per_vote(
        network.model, network.image, settings.batches, settings.calibration_seconds, **how
    )
    best = min(per_vote, key=per_vote.__getitem__)
    rivals = _fast(network, settings, ours, bare)
    for name, batch in ((COHEN, cohen_loop.DOCUMENTED_BATCH), (BEST, best)):
        votes = whole_batches(settings.seconds / per_vote[batch], batch)
        rivals[name] = _cohen(network, votes, batch)
    if importlib.util.find_spec("art") is not None:
        rivals[ART] = _art(network, settings)
    measurements = alternate("speed", network.name, rivals, settings.repetitions)
    flops = forward_flops(network.model, network.image)
    return measurements, {
        "engine": ours.engine.engine_name,
        "setup_seconds": ours.setup_seconds,
        "rows_per_batch": ours.batch,
        "best_batch": best,
        "cohen_seconds_per_vote": {str(batch): seconds for batch, seconds in per_vote.items()},
        "flops_per_vote": flops,
        "votes_per_second": {name: asdict(rate(measurements, name)) for name in rivals},
        "share_of_peak": {
            name: rate(measurements, name).median * flops / (peak * 1e9) for name in rivals if peak > 0
        },
        "overhead": asdict(ratio(measurements, OURS, BARE)),
        "factor": {
            name: asdict(ratio(measurements, name, OURS)) for name in rivals if name not in (OURS, BARE)
        },
    }


def whole_batches(votes: float, batch: int) -> int:
    """Return about as many votes, in whole batches, at least one."""
    return max(round(votes / batch), 1) * batch


def _fast(network: Network, settings: Settings, ours: Ours, bare: BareForward) -> dict[str, Draw]:
    """Return ours and the bare forward pass with the same number of votes."""
    together = settings.workers * ours.batch
    drawn, seconds = timed(lambda: bare(2 * together))
    n = max(whole_batches(settings.seconds * drawn / seconds, together), settings.least_batches * together)
    return {BARE: lambda: bare(N0 + n), OURS: lambda: ours.certify(network.image, n).votes}


def _cohen(network: Network, n: int, batch: int) -> Draw:
    def draw() -> int:
        claim = cohen_loop.certify(
            network.model, network.image, n, batch, sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0
        )
        return claim.votes

    return draw


def _art(network: Network, settings: Settings) -> Draw:
    shape = tuple(network.image.shape)
    art = ArtRival(network.model, shape, sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0)
    certify: Callable[[int], int] = lambda n: art.certify(network.image, n).votes  # noqa: E731
    drawn, seconds = timed(lambda: certify(N0))
    n = whole_batches(settings.seconds * drawn / seconds, 32)
    return lambda: certify(n)


def render(summary: dict[str, Any]) -> str:
    """Return the part's tables."""
    rates, goals = [], []
    for name, found in summary["networks"].items():
        for rival, spread in found["votes_per_second"].items():
            share = f"{100 * found['share_of_peak'][rival]:.1f}%" if rival in found["share_of_peak"] else "-"
            rates.append([name, rival, shown(spread, 0), share])
        overhead, most = found["overhead"], MOST_OVERHEAD.get(name)
        goals.append(
            [name, "time over bare forward", shown(overhead, 3), verdict(overhead["median"], most=most)]
        )
        for rival, spread in found["factor"].items():
            least = LEAST_FACTOR[rival].get(name)
            note = f" (batch {found['best_batch']})" if rival == BEST else ""
            words = f"votes per second over {rival}{note}"
            goals.append([name, words, shown(spread, 2) + "x", verdict(spread["median"], least=least)])
    engines = ", ".join(
        f"{name}: {found['engine']}, {found['rows_per_batch']} rows per batch, ready after "
        f"{found['setup_seconds']:.1f} s (not counted)"
        for name, found in summary["networks"].items()
    )
    peak = f"Peak of the machine (float32 matrix products): {shown(summary['peak_gflops'], 0)} GFLOP/s."
    first = table(["network", "rival", "votes per second", "share of peak"], rates)
    second = table(["network", "ratio", "median (range)", "goal"], goals)
    return f"### Speed\n\n{peak} Our engines: {engines}.\n\n{first}\n\n{second}"
