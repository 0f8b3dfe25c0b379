"""Certified accuracy as cells of a table: rounded in the safe direction, a mark where a figure would mislead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

import numpy as np

from smoothcert.certificates import Note, Reading, Results
from smoothcert.radii import named_radii
from smoothcert.report.summary import CONFIDENCE, Summary


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal, rounded down."""
    return f"{math.floor(round(fraction * 1000, 9)) / 10:.1f}"


def percent_up(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal, rounded up."""
    return f"{math.ceil(round(fraction * 1000, 9)) / 10:.1f}"


def share_cells(reading: Reading) -> list[str]:
    """Return shares as percentages; a mark instead of one, or before it, where there is a note."""
    return [_cell(share, note) for share, note in zip(reading.shares.tolist(), reading.notes, strict=True)]


def interval_cells(results: Results, reading: Reading) -> list[str]:
    """Return intervals over images of certified accuracy, in percent, rounded outward; none where there is a note."""
    low, high = results.certified_accuracy_interval(reading.radii, CONFIDENCE)
    return [
        f"{percent(a)}–{percent_up(b)}" if note is None else ""
        for a, b, note in zip(low.tolist(), high.tolist(), reading.notes, strict=True)
    ]


def mark_lines(readings: Iterable[Reading]) -> Iterator[str]:
    """Yield what each mark means that stands in the cells of some readings."""
    used = {note for reading in readings for note in reading.notes}
    for note in Note:
        if note in used:
            yield f"{note.mark}  {note.value}."


def speaking(summaries: Sequence[Summary], readings: Sequence[Reading]) -> list[Reading]:
    """Return readings at the radii where some summary has a figure, or asked for one in vain; else at the first alone.

    Args:
        summaries: at least one.
        readings: of each, at the same radii.
    """
    kept = np.zeros(len(readings[0].radii), dtype=bool)
    for summary, reading in zip(summaries, readings, strict=True):
        asked = named_radii(summary.asked or ())
        has_figure = np.array([note is None or not note.hides for note in reading.notes])
        kept |= has_figure | np.isin(reading.radii, asked)
    kept[0] |= not kept.any()
    return [Reading(one.radii[kept], one.shares[kept], tuple(compress(one.notes, kept))) for one in readings]


def _cell(share: float, note: Note | None) -> str:
    if note is None:
        return percent(share)
    return note.mark if note.hides else f"{note.mark}{percent(share)}"
