"""Part "speed": votes per second of every rival on every network, in turns."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks import cohen_loop
from benchmarks.art_rival import ArtRival
from benchmarks.bare_forward import BareForward
from benchmarks.machine import peak_gflops
from benchmarks.measure import Draw, Measurement, alternate, cost_of, of_rival, rate, ratio, spread, timed
from benchmarks.networks import Network, load
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import N0, NUM_CLASSES, PLANNED_VOTES, SIGMA, Settings
from smoothcert.models import forward_flops

BARE, OURS, FEW = "bare forward", "ours", "ours, few votes"
COHEN, BEST, ART = "Cohen, batch 1000", "Cohen, best batch", "ART"
MOST_OVERHEAD = {"lenet": 1.10, "resnet20": 1.05, "resnet110": 1.05}
LEAST_FACTOR = {
    COHEN: {"lenet": 2.5, "resnet20": 3.5, "resnet110": 3.0},
    BEST: {"lenet": 2.2, "resnet20": 1.6, "resnet110": 1.4},
    ART: {"lenet": 4.0, "resnet20": 4.0, "resnet110": 3.3},
}


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
    how = {"sigma": SIGMA, "num_classes": NUM_CLASSES}
    per_vote = cohen_loop.seconds_per_vote(
        network.model, network.image, settings.batches, settings.calibration_seconds, **how
    )
    best = min(per_vote, key=per_vote.__getitem__)
    rivals = _fast(network, settings, ours, bare)
    for name, batch in ((COHEN, cohen_loop.DOCUMENTED_BATCH), (BEST, best)):
        rivals[name] = _cohen(network, whole_batches(settings.seconds / per_vote[batch], batch), batch)
    if importlib.util.find_spec("art") is not None:
        rivals[ART] = _art(network, settings)
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


def whole_batches(votes: float, batch: int) -> int:
    """Return about as many votes, in whole batches, at least one."""
    return max(round(votes / batch), 1) * batch


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


def _art(network: Network, settings: Settings) -> Draw:
    shape = tuple(network.image.shape)
    art = ArtRival(network.model, shape, sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0)
    certify: Callable[[int], int] = lambda n: art.certify(network.image, n).votes  # noqa: E731
    drawn, seconds = timed(lambda: certify(N0))
    n = whole_batches(settings.seconds * drawn / seconds, 32)
    return lambda: certify(n)


def render(summary: dict[str, Any]) -> str:
    """Return the part's tables."""
    rates, goals, engines = [], [], []
    for name, found in summary["networks"].items():
        for rival, per_second in found["votes_per_second"].items():
            share = f"{100 * found['share_of_peak'][rival]:.1f}%"
            rates.append([name, rival, shown(per_second, 0), share])
        goals += [[name, *row] for row in _ratios(found, name)]
        engines.append(
            f"{name}: {found['engine']}, {found['rows_per_batch']} rows per batch, ready after "
            f"{found['setup_seconds']:.1f} s (not counted)"
        )
    peak = f"Peak of the machine (float32 matrix products): {summary['peak_gflops']['high']:,.0f} GFLOP/s."
    first = table(["network", "rival", "votes per second", "share of peak"], rates)
    second = table(["network", "ratio", "median (range)", "goal"], goals)
    return f"### Speed\n\n{peak} Our engines: {'; '.join(engines)}.\n\n{first}\n\n{second}"


def _ratios(found: dict[str, Any], network: str) -> Iterator[list[str]]:
    """Yield the rows of one network: what is compared, the ratio, the goal."""
    most = MOST_OVERHEAD.get(network)
    measured, default, fixed = found["overhead"], found["overhead_by_default"], found["fixed_seconds"]
    words = f"time over bare forward, {found['votes_of_ours']:,} votes"
    yield [words, shown(measured, 3), verdict(measured["median"], most=most)]
    words = f"the same at 100,100 votes, from slope and {fixed['median']:.2f} s fixed"
    yield [words, shown(default, 3), verdict(default["median"], most=most)]
    for rival, factor in found["factor"].items():
        note = f" ({found['best_batch']})" if rival == BEST else ""
        least = LEAST_FACTOR[rival].get(network)
        words = f"votes per second over {rival}{note}"
        yield [words, shown(factor, 2) + "x", verdict(factor["median"], least=least)]
