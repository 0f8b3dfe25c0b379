"""Certified accuracy over radius as the points of a curve, which ends where nothing more can be said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Results
from smoothcert.report.summary import Summary

Floats = NDArray[np.float64]

_TOLERANCE = 0.0005  # of a share: less than a line is wide
_GRID = 20  # more distinct radii than this are no grid


@dataclass(frozen=True)
class AccuracyCurve:
    """The points of a curve, each share being true of all radii down to the point before.

    Args:
        summary: what it is about.
        radii: increasing, in pixel units.
        shares: certified accuracy there.
        asked: radii to mark: those that were asked about, or the few that a log holds.
        ends: True if it ends because nothing larger can be proven, or is known.
    """

    summary: Summary
    radii: Floats
    shares: Floats
    asked: Floats
    ends: bool


def kept_steps(shares: Floats) -> NDArray[np.int64]:
    """Return which steps of a curve to keep so that it stays within a line's width below itself, and never above.

    Where steps are left out, a curve has the value of the next one kept, which is smaller by the tolerance at most.

    Args:
        shares: of a curve, falling.
    """
    kept = [len(shares) - 1]
    for place in range(len(shares) - 2, 0, -1):
        if shares[place] - shares[kept[-1]] > _TOLERANCE:
            kept.append(place)
    return np.array([0, *reversed(kept)] if kept[-1] else [0], dtype=np.int64)


def accuracy_curve(summary: Summary) -> AccuracyCurve:
    """Return the curve of a summary.

    It falls to zero only where a zero says something: between the largest radius found and the largest that could
    have been proven. A curve of asked radii ends at the last of them that could be.
    """
    radii, shares = accuracy_steps(summary.results)
    reach, none = summary.reach, np.array([])
    largest = -1.0 if reach.largest is None else reach.largest
    if reach.asked is not None:
        asked = np.array([radius for radius in reach.asked if radius <= largest])
        failed = asked[asked > radii[-1]]
        ends = len(asked) < len(reach.asked)
        return AccuracyCurve(
            summary, np.append(radii, failed), np.append(shares, np.zeros(len(failed))), asked, ends
        )
    if not reach.is_known and len(grid := grid_radii(summary.results)):
        return AccuracyCurve(summary, radii, shares, radii[np.isin(radii, grid)], ends=False)
    if radii[-1] < largest:
        end = largest if reach.is_known else radii[-1]
        return AccuracyCurve(summary, np.append(radii, end), np.append(shares, 0.0), none, reach.is_known)
    return AccuracyCurve(summary, radii, shares, none, ends=True)


def end_text(curves: Iterable[AccuracyCurve]) -> str | None:
    """Return what the mark at the end of a curve means; None if no curve has one."""
    known = {curve.summary.reach.is_known for curve in curves if curve.ends}
    texts = {
        True: "nothing larger can be proven by these votes",
        False: "nothing larger is known from the log",
    }
    return "; or ".join(texts[one] for one in (True, False) if one in known) or None


def accuracy_steps(results: Results) -> tuple[Floats, Floats]:
    """Return radii r_0 = 0 < r_1 < .. and certified accuracy there, which holds on all of (r_(i-1), r_i]."""
    sorted_radii = np.sort(results.radius[results.correct])
    radii = np.unique(np.append(sorted_radii, 0.0))
    reached = len(sorted_radii) - np.searchsorted(sorted_radii, radii, side="left")
    return radii, reached / max(len(results), 1)


def grid_radii(results: Results) -> Floats:
    """Return the few radii that all certificates share; none if the radii are spread out."""
    radii = results.radius[results.predicted >= 0]
    different = np.unique(radii)
    return different if len(different) <= min(_GRID, len(radii) / 3) else different[:0]
