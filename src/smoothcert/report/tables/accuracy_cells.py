"""Certified accuracy as cells of a table: rounded in the safe direction, a mark where a figure would mislead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Note, Reach, Results
from smoothcert.radii import named_radii
from smoothcert.report.summary import CONFIDENCE, Summary


def percent(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal, rounded down."""
    return f"{math.floor(round(fraction * 1000, 9)) / 10:.1f}"


def percent_up(fraction: float) -> str:
    """Return a fraction as a percentage with one decimal, rounded up."""
    return f"{math.ceil(round(fraction * 1000, 9)) / 10:.1f}"


def accuracy_cells(summary: Summary, radii: NDArray[np.float64]) -> list[str]:
    """Return a summary's certified accuracy as percentages, or marks where it cannot be told."""
    return share_cells(summary.reach, radii, summary.results.certified_accuracy(radii))


def share_cells(reach: Reach, radii: NDArray[np.float64], shares: NDArray[np.float64]) -> list[str]:
    """Return shares at radii as percentages; a mark instead of one, or before it, where the reach has a note."""
    return [
        _cell(share, note) for share, note in zip(shares.tolist(), reach.notes(radii, shares), strict=True)
    ]


def interval_cells(summary: Summary, radii: NDArray[np.float64]) -> list[str]:
    """Return intervals over images of certified accuracy, in percent, rounded outward; none where there is a note."""
    shares = summary.results.certified_accuracy(radii)
    low, high = summary.results.certified_accuracy_interval(radii, CONFIDENCE)
    return [
        f"{percent(a)}–{percent_up(b)}" if note is None else ""
        for a, b, note in zip(low.tolist(), high.tolist(), summary.reach.notes(radii, shares), strict=True)
    ]


def mark_lines(read: Iterable[tuple[Results, Reach]], radii: NDArray[np.float64]) -> Iterator[str]:
    """Yield what each mark means that stands in the cells of some certificates."""
    yield from note_lines(
        note for results, reach in read for note in reach.notes(radii, results.certified_accuracy(radii))
    )


def note_lines(notes: Iterable[Note | None]) -> Iterator[str]:
    """Yield what each mark means that some notes put into cells."""
    used = set(notes)
    for note in Note:
        if note in used:
            yield f"{note.mark}  {note.value}."


def speaking(summaries: Sequence[Summary], radii: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the radii at which some summary has a figure, or asked for one in vain; else the first alone."""
    kept = np.zeros(len(radii), dtype=bool)
    for summary in summaries:
        told = summary.reach.told(radii.tolist(), summary.results.certified_accuracy(radii))
        asked = named_radii(summary.asked or ())
        kept |= np.array([share is not None for share in told]) | np.isin(radii, asked)
    return radii[kept] if kept.any() else radii[:1]


def _cell(share: float, note: Note | None) -> str:
    if note is None:
        return percent(share)
    return note.mark if note.hides else f"{note.mark}{percent(share)}"
