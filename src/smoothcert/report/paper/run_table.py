"""The table of runs in a paper: ACR and certified accuracy as means over seeds, rounded in the safe direction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smoothcert.amounts import amount
from smoothcert.certificates import Reading
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.members import MembersCurve, member_curves
from smoothcert.report.paper.envelopes import curve_name, named_curves
from smoothcert.report.paper.paper_table import Cell, PaperTable
from smoothcert.report.paper.run_records import run_records
from smoothcert.report.paper.seed_group import Floats, SeedGroup, deviation
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import mark_lines, percent_up, share_cells
from smoothcert.report.tables.small_print import acr_lines, image_lines
from smoothcert.report.tables.summaries import common_grid
from smoothcert.rounding import floor_digits

_DIGITS = 4  # of an ACR
_ABOVE = "certified accuracy (%) at radius"
_SEEDS = (
    "±: standard deviation over seeds (n - 1 below), rounded up; means are rounded down, of abstentions up. That the "
    "runs of a row differ in nothing but seeds is trusted, as far as runs do not tell it."
)
_ENVELOPE = (
    "Envelope: at each radius the member that is best there, which no classifier is; its ACR is the best member's. "
    "Average: the mean of the members."
)


def run_table(
    groups: Sequence[SeedGroup],
    *,
    envelopes: Mapping[str, Sequence[str]] | None = None,
    radii: NDArray[np.float64] | None = None,
    bold: bool = False,
) -> PaperTable:
    """Return one row per group, then upper envelope and average of members.

    Members of an ensemble that is among the runs are found by their digests; those of logs have to be named.

    Args:
        groups: what `group_runs` returned, at least one.
        envelopes: names of summaries, by the name that their envelope and average are to have.
        radii: where to read certified accuracy, as `named_radii` gives them; at most nine that suit all by default.
        bold: mark the best figure of each column; refused where rows are about different images or norms.
    """
    summaries = [one for group in groups for one in group.members]
    if not summaries or not all(len(one.results) for one in summaries):
        raise InvalidArgumentError("a table needs at least one run, each with at least one finished image")
    grid = common_grid(summaries) if radii is None else radii
    curves = [*member_curves(summaries), *named_curves(summaries, envelopes or {})]
    with_votes = any(group.votes is not None for group in groups)
    several = any(group.seeds > 1 for group in groups)
    columns = [
        "run",
        *(["seeds"] if several else []),
        "ACR",
        *(f"r={radius:g}" for radius in grid),
        "abst. (%)",
    ]
    columns += ["votes"] if with_votes else []
    rows = [_row(group, group.read(grid), columns) for group in groups]
    if bold:
        _refuse_different(summaries)
        rows = _emphasised(rows, columns.index("ACR"), len(grid) + 1)
    below = [_curve_row(curve, grid, columns) for curve in curves]
    return PaperTable(
        title="Certified accuracy (%) at radius and average certified radius (ACR)",
        columns=tuple(columns),
        blocks=tuple(tuple(block) for block in (rows, below) if block),
        notes=tuple(_notes(groups, curves, grid, with_votes=with_votes)),
        records=tuple(run_records(groups, curves, grid)),
        span=(columns.index("ACR") + 1, len(grid), _ABOVE) if len(grid) else None,
    )


def _row(group: SeedGroup, reading: Reading, columns: Sequence[str]) -> tuple[Cell, ...]:
    """Return the cells of a group, those of single runs without a deviation."""
    several = group.seeds > 1
    spread = deviation(group.shares(reading.radii))
    shares = [
        Cell(text, percent_up(float(sd)) if several and not (note and note.hides) else None)
        for text, sd, note in zip(share_cells(reading), spread, reading.notes, strict=True)
    ]
    acr_sd = _up(float(deviation(group.acrs))) if several else None
    abstained_sd = percent_up(float(deviation(group.abstained))) if several else None
    cells = [Cell(group.name), *([Cell(str(group.seeds))] if "seeds" in columns else [])]
    cells += [Cell(floor_digits(float(group.acrs.mean()), _DIGITS), acr_sd), *shares]
    cells += [Cell(percent_up(float(group.abstained.mean())), abstained_sd)]
    if "votes" in columns:
        cells += [Cell("" if group.votes is None else f"{math.ceil(group.votes.mean()):,}")]
    return tuple(cells)


def _curve_row(curve: MembersCurve, grid: Floats, columns: Sequence[str]) -> tuple[Cell, ...]:
    shares = share_cells(curve.ensemble.reach.read(curve, grid))
    texts = [curve_name(curve), *([""] if "seeds" in columns else [])]
    texts += [floor_digits(curve.average_radius(), _DIGITS), *shares]
    return tuple(Cell(text) for text in (*texts, *[""] * (len(columns) - len(texts))))


def _emphasised(rows: Sequence[tuple[Cell, ...]], first: int, count: int) -> list[tuple[Cell, ...]]:
    """Mark the largest figure of some columns, and all that are printed alike; none in a column of one figure."""
    best: dict[int, str] = {}
    for place in range(first, first + count):
        figures = [text for row in rows if (text := row[place].text) and text[0].isdigit()]
        if len(figures) > 1:
            best[place] = max(figures, key=float)
    return [
        tuple(replace(cell, is_best=best.get(place) == cell.text) for place, cell in enumerate(row))
        for row in rows
    ]


def _refuse_different(summaries: Sequence[Summary]) -> None:
    first = summaries[0]
    for other in summaries[1:]:
        same = np.array_equal(first.results.index, other.results.index) and np.array_equal(
            first.results.label, other.results.label
        )
        norms = {one.reach.norm for one in (first, other)} - {None}
        if not same or len(norms) > 1:
            raise InvalidArgumentError(
                f"bold would compare {first.name} and {other.name}, which are about different "
                f"{'images' if not same else 'norms'}; leave bold out, or give runs that can be compared"
            )


def _notes(
    groups: Sequence[SeedGroup], curves: Sequence[MembersCurve], grid: Floats, *, with_votes: bool
) -> Iterator[str]:
    """Yield what a reader of the table has to know."""
    yield from mark_lines(group.read(grid) for group in groups)
    several = [group for group in groups if group.seeds > 1]
    if several:
        yield _SEEDS
        yield f"Seeds: {'; '.join(f'{group.name}, {group.about}' for group in several)}."
    if curves:
        yield _ENVELOPE
    if with_votes:
        yield "Votes: mean per image, counting those that chose the class, rounded up."
    for group in groups:
        for one in group.members:
            if one.missing:
                yield f"Unfinished: {one.name} lacks {one.missing} of its images, so its figures look too good."
            if one.failures:
                failed = amount(len(one.failures), "image")
                yield f"Failed: {failed} of {one.name} without an answer, counted as not certified."
    summaries = [one for group in groups for one in group.members]
    if len({tuple(one.results.index.tolist()) for one in summaries}) > 1:
        yield "These rows are about different images, so that part of any difference comes from the choice of images."
    yield from (f"{line.rstrip('.')}." for line in image_lines(summaries))
    yield from sorted({f"{one.setting}." for group in groups for one in group.members if one.manifest})
    yield from acr_lines(summaries)


def _up(value: float) -> str:
    """Return a deviation with the digits of an ACR, rounded up."""
    return floor_digits(-value, _DIGITS).lstrip("-")
