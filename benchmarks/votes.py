"""Part "votes": expected votes and certified accuracy of four procedures, computed exactly over real images.

Nothing is sampled here. Each image has a vote share p of its leading class (measured once, kept as evidence) that
is taken for the truth; dynamic programming over counts gives what each procedure would spend and prove on it. The
leading class is taken to be the one chosen, which only matters near p = 1/2, where no radius asked here is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import smoothcert as sc
from benchmarks.report import Part, table, verdict
from benchmarks.settings import ALPHA, BETA, N0, Settings
from benchmarks.shares import Shares, some_shares
from smoothcert.bounds import Boundary, operate, staged_boundary

N = 100_000
RADII_IN_SIGMA = (1.0, 2.0, 3.0)
FEWER_THAN_STAGED, ACCURACY_POINTS = 1.7, 0.2
KINDS = {
    "without_n0": "n0 not counted",
    "n0_both_sides": "n0 on both sides (SampleRF)",
    "as_drawn": "as drawn",
}
_UNIT = sc.Gaussian(1.0)  # radii in units of sigma


def boundaries(radius: float) -> dict[str, Boundary]:
    """Return what each procedure runs for a radius in units of sigma."""

    def target(procedure: Any) -> Boundary:
        return procedure.plan(_UNIT, ALPHA).boundaries[0]  # type: ignore[no-any-return]

    return {
        "GroupSequential": target(sc.GroupSequential(radius=radius, n=N, beta=BETA)),
        "Sequential": target(sc.Sequential(radius=radius, beta=BETA)),
        "CERTIFYADP": target(sc.Staged(radius=radius, beta=BETA)),
        "FixedSample": staged_boundary((N,), float(_UNIT.threshold(radius)), ALPHA, BETA),
    }


def extra_n0(name: str) -> int:
    """Return the separate votes for choosing the class that a procedure really draws at these radii."""
    return N0 if name in ("CERTIFYADP", "FixedSample") else 0


def expectations(shares: Shares, radius: float) -> list[dict[str, Any]]:
    """Return one record per procedure: mean votes, certified accuracy, reduction factors against FixedSample."""
    found = []
    for name, boundary in boundaries(radius).items():
        at: Callable[[float], Any] = cache(lambda p, boundary=boundary: operate(boundary, p))
        done = [at(float(p)) for p in shares.p]
        votes = float(np.mean([d.expected_votes for d in done]))
        found.append(
            {
                "part": "votes",
                "radius_in_sigma": radius,
                "procedure": name,
                "images": len(done),
                "votes_without_n0": votes,
                "votes_drawn": votes + extra_n0(name),
                "certified_accuracy": float(np.mean(shares.correct * [d.certified for d in done])),
                "reduction_without_n0": N / votes,
                "reduction_n0_both_sides": (N0 + N) / (N0 + votes),
                "reduction_as_drawn": (N0 + N) / (extra_n0(name) + votes),
            }
        )
    return found


def compare(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the goals speak of, for the rows of one radius."""
    by_name = {row["procedure"]: row for row in rows}
    group, staged, fixed = (by_name[name] for name in ("GroupSequential", "CERTIFYADP", "FixedSample"))
    bare = staged["votes_without_n0"], group["votes_without_n0"]
    return {
        "radius_in_sigma": group["radius_in_sigma"],
        "procedures": by_name,
        "points_against_fixed": 100 * (group["certified_accuracy"] - fixed["certified_accuracy"]),
        "fewer_than_certifyadp_without_n0": bare[0] / bare[1],
        "fewer_than_certifyadp_n0_both_sides": (N0 + bare[0]) / (N0 + bare[1]),
        "fewer_than_certifyadp_as_drawn": staged["votes_drawn"] / group["votes_drawn"],
    }


def run(settings: Settings) -> Part:
    """Compute the part over the committed table, or say clearly that a made-up one was used."""
    shares = some_shares()
    rows = [expectations(shares, radius) for radius in RADII_IN_SIGMA]
    summary = {"shares": shares.source, "images": len(shares.p), "radii": [compare(r) for r in rows]}
    return Part([row for group in rows for row in group], summary)


def render(summary: dict[str, Any]) -> str:
    """Return the part's tables."""
    spent, goals = [], []
    for radius in summary["radii"]:
        name = f"{radius['radius_in_sigma']:g} sigma"
        for procedure, row in radius["procedures"].items():
            factors = [f"{row[f'reduction_{kind}']:.1f}x" for kind in KINDS]
            accuracy = f"{100 * row['certified_accuracy']:.2f}%"
            spent.append([name, procedure, f"{row['votes_without_n0']:,.0f}", accuracy, *factors])
        points = radius["points_against_fixed"]
        equal = verdict(abs(points), most=ACCURACY_POINTS)
        goals.append([name, "certified accuracy against FixedSample", f"{points:+.3f} points", equal])
        for kind, words in KINDS.items():
            fewer = radius[f"fewer_than_certifyadp_{kind}"]
            goal = verdict(fewer, least=FEWER_THAN_STAGED)
            goals.append([name, f"fewer votes than CERTIFYADP, {words}", f"{fewer:.2f}x", goal])
    first = ["radius", "procedure", "votes per image, n0 not counted", "certified accuracy"]
    first += [f"fewer than FixedSample, {words}" for words in KINDS.values()]
    second = ["radius", "GroupSequential", "value", "goal"]
    about = f"Exact, over {summary['images']} images ({summary['shares']}), alpha = beta = {ALPHA}."
    return f"### Votes\n\n{about}\n\n{table(first, spent)}\n\n{table(second, goals)}"
