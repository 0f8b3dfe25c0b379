"""The tables of part "speed", and the goals that its ratios are held against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.report import shown, table, verdict

BARE, OURS, FEW = "bare forward", "ours", "ours, few votes"
COHEN, BEST, ART = "Cohen, batch 1000", "Cohen, best batch", "ART"
MOST_OVERHEAD = {"lenet": 1.10, "resnet20": 1.05, "resnet110": 1.05}
LEAST_FACTOR = {
    COHEN: {"lenet": 2.5, "resnet20": 3.5, "resnet110": 3.0},
    BEST: {"lenet": 2.2, "resnet20": 1.6, "resnet110": 1.4},
    ART: {"lenet": 4.0, "resnet20": 4.0, "resnet110": 3.3},
}


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
    yield [words, shown(default, 3), "extrapolated"]
    for rival, factor in found["factor"].items():
        note = f" ({found['best_batch']})" if rival == BEST else ""
        least = LEAST_FACTOR[rival].get(network)
        words = f"votes per second over {rival}{note}"
        yield [words, shown(factor, 2) + "x", verdict(factor["median"], least=least)]
