"""Tables of summaries for a terminal; every figure rounded in the safe direction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import ACR_CAVEAT, radius_grid
from smoothcert.certificates.radii import named_radii
from smoothcert.report.members import member_curves
from smoothcert.report.summary import Summary
from smoothcert.report.terminal import make_table, print_tables
from smoothcert.store import floor_digits

_STEPS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FINE_STEPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1)  # linf radii are small
_WHOLE_STEPS = (1.0, 2.0, 5.0, 10.0, 100.0)  # l0 radii count coordinates
_MOST_RADII = 9  # what fits beside the other columns in eighty characters


_ENVELOPE = (
    "envelope: the upper envelope of an ensemble's members, at each radius the member that is best there, with the "
    "area below it as ACR; no classifier has it. average: the mean of the members."
)


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal, rounded down."""
    return f"{math.floor(round(fraction * 1000, 9)) / 10:.1f}"


def common_grid(summaries: Sequence[Summary]) -> NDArray[np.float64]:
    """Return at most nine radii that suit all: what they asked about, else steps of .25 or what fits."""
    asked = {radius for summary in summaries for radius in summary.asked or ()}
    if asked and len(asked) <= _MOST_RADII and all(summary.asked for summary in summaries):
        return np.unique(named_radii(sorted(asked)))
    largest = max((summary.largest_radius for summary in summaries), default=0.0)
    if any(summary.manifest.get("norm") == "l0" for summary in summaries):
        steps: tuple[float, ...] = _WHOLE_STEPS
    else:
        steps = _FINE_STEPS + _STEPS if largest < 0.5 else _STEPS
    grids = [radius_grid(largest, step) for step in steps]
    return named_radii(next((grid for grid in grids if len(grid) <= _MOST_RADII), grids[-1]))


def accuracy_cells(summary: Summary, radii: NDArray[np.float64]) -> list[str]:
    """Return certified accuracy as percentages; a dash beyond the largest radius that was asked about."""
    largest = math.inf if summary.asked is None else summary.asked[-1]
    values = summary.results.certified_accuracy(radii)
    return [percent(value) if radius <= largest else "–" for value, radius in zip(values, radii, strict=True)]


def print_summaries(summaries: Sequence[Summary], radii: NDArray[np.float64] | None = None) -> None:
    """Print one row per summary: images, ACR, abstained and certified accuracy (%), votes; then the small print.

    Args:
        summaries: what to compare.
        radii: radii in pixel units; a common grid by default.
    """
    grid = common_grid(summaries) if radii is None else named_radii(radii)
    costs = [summary.evaluations_per_vote for summary in summaries]
    last = ["passes"] if any(cost not in (None, 1.0) for cost in costs) else []
    columns = ("", "images", "ACR", *(f"r={radius:g}" for radius in grid), "abst.", "votes", *last)
    # Long paths would push the figures off the screen: rows are numbered then, and named below.
    numbered = any(len(summary.name) > 12 for summary in summaries)
    rows = list[Sequence[str]]()
    for number, summary in enumerate(summaries, start=1):
        name = f"[{number}]" if numbered else summary.name
        rows.append([*_figures(name, summary, grid), *([_passes(summary)] if last else [])])
        if summary.default is not None:
            shares = [percent(share) for share in summary.default.certified_accuracy(grid)]
            acr, abstained = summary.default.average_radius(), 100 * summary.default.abstained()
            rows.append(("default", "", floor_digits(acr, 5), *shares, f"{abstained:.1f}", ""))
    curves = list(member_curves(summaries))
    for curve in curves:
        shares = [percent(share) for share in curve.certified_accuracy(grid)]
        row = f"[{summaries.index(curve.ensemble) + 1}]" if numbered else curve.ensemble.name
        # Which members, where the table holds those of several ensembles.
        name = curve.name if len(curves) == 2 else f"{curve.name}, {row}"
        rows.append((name, "", floor_digits(curve.average_radius(), 5), *shares, "", ""))
    table = make_table("Certified accuracy (%) at radius, rounded down", columns, rows)
    small_print = [*_small_print(summaries, numbered), *([_ENVELOPE] if curves else [])]
    print_tables([table], small_print, width=160)


def _figures(name: str, summary: Summary, grid: NDArray[np.float64]) -> list[str]:
    """Return the cells of a summary's row but the last."""
    votes = "" if summary.samples is None or not len(summary.samples) else f"{summary.samples.mean():.0f}"
    return [
        name,
        str(len(summary.results)),
        floor_digits(summary.results.average_radius(), 5),
        *accuracy_cells(summary, grid),
        f"{100 * summary.results.abstained():.1f}",
        votes,
    ]


def _passes(summary: Summary) -> str:
    return "" if summary.evaluations_per_vote is None else f"{summary.evaluations_per_vote:.2f}"


_TURNED = {
    (
        "l2",
        "linf",
    ): "linf radii are l2 radii divided by the square root of the number of coordinates: true, but weak; "
    "noise made for l2 cannot do much better in high dimensions.",
    ("l1", "linf"): "linf radii are l1 radii divided by the number of coordinates: true, but weak.",
    (
        "l1",
        "l2",
    ): "l2 radii are l1 radii divided by the square root of the number of coordinates: true, but weak.",
}


def _turned(summary: Summary) -> list[tuple[str, str]]:
    """Return the norm of the noise and that of the radii, where these differ."""
    source = summary.manifest.get("norm_of_noise")
    return [] if source is None else [(source, summary.manifest["norm"])]


def _small_print(summaries: Sequence[Summary], numbered: bool) -> Iterator[str]:
    """Yield the names behind numbers, which images they are about, and what to mind."""
    for summary in summaries:
        if summary.missing:
            yield (
                f"Warning: {summary.name} is unfinished, {summary.missing} of its images are missing; hard images end "
                "last, so its figures look better than they are. Continue it with --resume."
            )
    if len({summary.manifest["norm"] for summary in summaries if summary.manifest}) > 1:
        yield "Warning: these runs measure radii in different norms; their radii cannot be compared."
    if len({summary.manifest["dataset"]["digest"] for summary in summaries if summary.manifest}) > 1:
        yield "Warning: these runs are about different data."
    common = {summary.indices for summary in summaries}
    for number, summary in enumerate(summaries, start=1):
        about = "" if len(common) == 1 else f": {summary.indices}"
        if numbered:
            yield f"[{number}] {summary.name}{about}"
        elif about:
            yield f"{summary.name}{about}"
    if len(common) == 1:
        yield f"All about {common.pop()}."
    for about in sorted({summary.setting for summary in summaries if summary.manifest}):
        yield about
    for summary in summaries:
        rate, ensemble = summary.cost.get("consensus_rate"), summary.manifest.get("ensemble", {})
        if rate is not None:
            yield (
                f"{summary.name}: in {rate:.1%} of the votes (KCR) the first {ensemble['consensus']} members agreed; "
                f"{summary.evaluations_per_vote:.2f} evaluations per vote of at most "
                f"{ensemble['evaluations_per_vote']}."
            )
    if any(summary.default is not None for summary in summaries):
        yield (
            "default: what the same votes prove without bounding the runner-up. Each of the two rows errs with "
            "probability at most alpha per image; picking the better one image by image would err more often."
        )
    for source, target in sorted({pair for summary in summaries for pair in _turned(summary)}):
        yield _TURNED.get((source, target), f"{target} radii are {source} radii as they are: true, but weak.")
    if any(summary.samples is not None for summary in summaries):
        yield "votes: mean per image, counting those that chose the class. –: not asked about."
    if any(summary.evaluations_per_vote not in (None, 1.0) for summary in summaries):
        yield "passes: network evaluations per vote, as counted; of heads, where one network has several."
    asked = [summary for summary in summaries if summary.asked is not None]
    if asked and len(asked) < len(summaries):
        yield "ACR of a run that asked about some radii counts none beyond the largest of them."
    yield ACR_CAVEAT
