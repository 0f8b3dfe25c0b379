"""A comparison of two runs as tables for a terminal; intervals rounded outward."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smoothcert.certificates import ACR_CAVEAT, Note, Reading
from smoothcert.report.comparing.comparison import Comparison
from smoothcert.report.comparing.conclusion import percent_of, points
from smoothcert.report.tables.accuracy_cells import mark_lines, share_cells
from smoothcert.report.tables.blocks import Table, make_table
from smoothcert.report.tables.terminal import print_tables
from smoothcert.report.wording import describe_indices
from smoothcert.rounding import ceil_digits, floor_digits

_NOT_IN_IT = (
    "Intervals speak of images drawn like these and of models as they are: another training of either may differ by "
    "more, and radii chosen after a look at the figures make intervals too narrow."
)


def print_comparison(comparison: Comparison) -> None:
    """Print certified accuracy and ACR of both, their differences, the conclusion, and what to mind."""
    print_tables(
        [_acr_table(comparison), _accuracy_table(comparison)],
        _small_print(comparison),
        width=160,
        conclusion=comparison.conclusion,
    )


def _accuracy_table(comparison: Comparison) -> Table:
    """Return the table of certified accuracy, a row for each radius."""
    level = percent_of(comparison.confidence)
    levels = (f"{level} for each", f"{level} for all") if len(comparison.at) > 1 else (level,)
    readings, rows = _readings(comparison), []
    for one, a, b in zip(comparison.at, *map(share_cells, readings), strict=True):
        row = [f"r={one.radius:g}", a, b]
        if one.interval is not None and one.joint is not None:
            difference = 100 * (one.only_b - one.only_a) / len(comparison.pairs)
            row += [str(one.only_a), str(one.only_b), _towards_0(difference, 2)]
            row += [_points(ends) for ends in (one.interval, one.joint)][: len(levels)]
        rows.append(row)
    columns = ("", "A", "B", "only A", "only B", "B - A", *levels)
    return make_table("Certified accuracy (%) of A and B, rounded down, and B - A in points", columns, rows)


def _acr_table(comparison: Comparison) -> Table:
    """Return the table of average radii, which also says what A and B are."""
    level, (a, b) = percent_of(comparison.confidence), comparison.acr
    rows = [
        [f"A: {comparison.a.name}", floor_digits(a, 5)],
        [f"B: {comparison.b.name}", floor_digits(b, 5)],
    ]
    if not comparison.acr_obstacle:
        rows.append(["B - A", _towards_0(b - a, 5)])
    if comparison.acr_interval is not None:
        rows[-1].append(_interval(*comparison.acr_interval, 5))
    return make_table("Average certified radius", ("", "ACR", f"about {level}"), rows)


def _small_print(comparison: Comparison) -> Iterator[str]:
    yield from comparison.remarks
    yield f"Compared on {describe_indices(comparison.pairs.a.index)} ({len(comparison.pairs):,} in all)."
    settings = {one.setting for one in (comparison.a, comparison.b)}
    if len(settings) == 1:  # what differs is among the remarks
        yield from filter(None, settings)
    yield from mark_lines(_readings(comparison))
    if comparison.compared:
        yield (
            "only A, only B: images that one alone certifies. Intervals of B - A are exact for paired images, and "
            "rounded outward."
        )
        if len(comparison.at) > 1:
            yield (
                "for each: if this radius alone is looked at; for all: those of all radii hold at once, which the "
                "conclusion rests on."
            )
    if comparison.acr_obstacle:
        yield f"ACR {comparison.acr_obstacle}."
    elif comparison.acr_interval is not None:
        yield (
            "The interval of ACR is approximate, by the t distribution of the images' differences, and no part of the "
            "conclusion."
        )
    else:
        yield "ACR has no interval: the images show no spread of differences to make one of."
    yield _NOT_IN_IT
    yield ACR_CAVEAT


def _readings(comparison: Comparison) -> tuple[Reading, Reading]:
    """Return what A and B say at the radii, with their marks."""

    def reading(shares: list[float], notes: tuple[Note | None, ...]) -> Reading:
        return Reading(np.array([one.radius for one in comparison.at]), np.array(shares), notes)

    return (
        reading([one.a for one in comparison.at], tuple(one.notes[0] for one in comparison.at)),
        reading([one.b for one in comparison.at], tuple(one.notes[1] for one in comparison.at)),
    )


def _towards_0(value: float, digits: int) -> str:
    return _signed(value, floor_digits(value, digits) if value > 0 else ceil_digits(value, digits))


def _points(ends: tuple[float, float]) -> str:
    low, high = points(ends)
    return f"{_signed(ends[0], low)} to {_signed(ends[1], high)}"


def _interval(low: float, high: float, digits: int) -> str:
    return f"{_signed(low, floor_digits(low, digits))} to {_signed(high, ceil_digits(high, digits))}"


def _signed(value: float, figure: str) -> str:
    """Return a figure with the sign of what it was before it was rounded: +0.00 lies above 0."""
    return f"{'-' if value < 0 else '+' if value > 0 else ''}{figure.lstrip('-')}"
