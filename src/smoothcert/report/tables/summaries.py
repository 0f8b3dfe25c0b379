"""Tables of summaries for a terminal; every figure rounded in the safe direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import MOST_RADII, Reading, check_list, check_radius
from smoothcert.radii import named_radii, radius_grid
from smoothcert.report.members import MembersCurve, member_curves
from smoothcert.report.summary import CONFIDENCE, Summary
from smoothcert.report.tables.accuracy_cells import (
    interval_cells,
    mark_lines,
    percent_up,
    share_cells,
    speaking,
)
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.cost_columns import cost_columns, cost_lines
from smoothcert.report.tables.small_print import small_print
from smoothcert.report.tables.terminal import print_tables
from smoothcert.rounding import floor_digits

__all__ = ["common_grid", "given_grid", "print_summaries"]

_STEPS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FINE_STEPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1)  # linf radii are small
_WHOLE_STEPS = (1.0, 2.0, 5.0, 10.0, 100.0)  # l0 radii count coordinates
_MOST_RADII = 9  # what one can compare at a glance

ENVELOPE = (
    "envelope: the upper envelope of an ensemble's members, at each radius the member that is best there; no "
    "classifier has it. Its ACR is the best member's, as papers count it; the area under it is larger. average: the "
    "mean of the members."
)


def given_grid(name: str, radii: Iterable[float]) -> NDArray[np.float64]:
    """Return the radii that a person gave, each once and increasing, as headings name them; refuse what is no radius.

    Args:
        name: of the argument, for messages.
        radii: in pixel units.
    """
    listed = check_list(name, radii, MOST_RADII)
    for radius in listed:
        check_radius(f"each of {name}", radius)
    return np.unique(named_radii(listed))


def common_grid(summaries: Sequence[Summary]) -> NDArray[np.float64]:
    """Return at most nine radii that suit all: what they asked about, else steps of .25 or what fits.

    None at which no summary has anything to say, and none that was not asked where all asked for some.
    """
    return common_readings(summaries)[0].radii


def common_readings(summaries: Sequence[Summary]) -> list[Reading]:
    """Return what each of some summaries, at least one, says at the radii of `common_grid`."""
    grid, is_asked = _fitting_grid(summaries)
    readings = [summary.read(grid) for summary in summaries]
    return readings if is_asked else speaking(summaries, readings)


def _fitting_grid(summaries: Sequence[Summary]) -> tuple[NDArray[np.float64], bool]:
    """Return radii that suit all, and whether each of them was asked about."""
    asked = np.unique(named_radii([radius for summary in summaries for radius in summary.asked or ()]))
    only_asked = len(asked) > 0 and all(summary.asked for summary in summaries)
    if only_asked and len(asked) <= _MOST_RADII:
        return asked, True
    largest = max((summary.largest_radius for summary in summaries), default=0.0)
    if any(summary.manifest.get("norm") == "l0" for summary in summaries):
        steps: tuple[float, ...] = _WHOLE_STEPS
    else:
        steps = _FINE_STEPS + _STEPS if largest < 0.5 else _STEPS
    grids = [named_radii(radius_grid(largest, step)) for step in steps]
    fitting = [grid for grid in grids if len(grid) <= _MOST_RADII] or grids[-1:]
    if only_asked:
        return next((grid for grid in fitting if np.isin(grid, asked).all()), _few(asked)), True
    return fitting[0], False


def print_summaries(
    summaries: Sequence[Summary],
    radii: NDArray[np.float64] | None = None,
    *,
    intervals: bool = False,
    reference: Summary | None = None,
) -> None:
    """Print one row per summary: images, ACR, certified accuracy (%), abstained, cost; then the small print.

    Args:
        summaries: what to compare.
        radii: radii in pixel units; a common grid by default.
        intervals: add intervals over images below each row.
        reference: a run of CERTIFY to compare time with.
    """
    if radii is None:
        readings = common_readings(summaries)
    else:
        readings = [summary.read(np.unique(named_radii(radii))) for summary in summaries]
    rows, grid = list[Sequence[str]](), readings[0].radii
    costs = cost_columns(summaries, reference)
    columns = ("", "images", "ACR", *(f"r={radius:g}" for radius in grid), "abst.", *costs)
    for place, (summary, reading) in enumerate(zip(summaries, tuple(readings), strict=True)):
        figures = _figures(summary.acr, reading, summary.abstained)
        rows.append(
            (summary.name, str(summary.images), *figures, *(cells[place] for cells in costs.values()))
        )
        if intervals:
            rows.append(("", "", "", *interval_cells(summary.results, reading)))
        if (default := summary.default) is not None:
            readings.append(summary.default_reach.read(default, grid))
            figures = _figures(default.average_radius(), readings[-1], default.abstained())
            rows.append(("default", "", *figures))
    curves = list(member_curves(summaries))
    rows.extend(row for curve in curves for row in _curve_rows(curve, grid, alone=len(curves) == 2))
    about_cells = [*mark_lines(readings), *cost_lines(list(costs))]
    if intervals:
        about_cells.append(
            f"Below each row: {CONFIDENCE:.0%} Clopper-Pearson intervals over images, rounded outward."
        )
    lines = small_print(summaries, [*about_cells, *([ENVELOPE] if curves else [])])
    print_tables(
        [make_table("Certified accuracy (%) at radius, rounded down", columns, rows, "abst.")],
        lines,
        width=160,
    )


def _figures(acr: float, reading: Reading, abstained: float) -> list[str]:
    """Return ACR, certified accuracy and abstentions."""
    return [floor_digits(acr, 5), *share_cells(reading), percent_up(abstained)]


def _curve_rows(curve: MembersCurve, grid: NDArray[np.float64], *, alone: bool) -> Iterator[Sequence[str]]:
    """Yield the row of a curve made of members, and the area under it where that is not its ACR."""
    # Which members, where the table holds those of several ensembles.
    name = curve.name if alone else f"{curve.name}, {curve.ensemble.name}"
    cells = share_cells(curve.ensemble.reach.read(curve, grid))
    yield name, "", floor_digits(curve.average_radius(), 5), *cells
    if curve.is_envelope:
        yield "  area under it", "", floor_digits(curve.area(), 5)


def _few(radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return nine of more radii at most: every so many from the first on, and the last."""
    every = radii[:-1][:: -(-(len(radii) - 1) // (_MOST_RADII - 1))]
    return np.append(every, radii[-1])
