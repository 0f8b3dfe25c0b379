"""A paired comparison of two runs, made: counts of images that one alone certifies, and bounds on the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.arguments import check_kind, check_number, check_path, check_switch
from smoothcert.bounds import paired_difference_interval
from smoothcert.radii import named_radii
from smoothcert.report.comparing.comparison import Comparison, Ends, RadiusDifference
from smoothcert.report.comparing.pairing import Pairs, pair
from smoothcert.report.comparing.remarks import acr_obstacle, remarks
from smoothcert.report.mean_interval import mean_interval
from smoothcert.report.summary import CONFIDENCE, Summary
from smoothcert.report.tables.summaries import common_grid, given_grid
from smoothcert.store import Run

_MOST_CONFIDENCE = 0.999999  # beyond, tails are no larger than the error of their arithmetic


def compare(
    a: Run | str | Path,
    b: Run | str | Path,
    *,
    radii: Sequence[float] | None = None,
    confidence: float = CONFIDENCE,
    common: bool = False,
) -> Comparison:
    """Compare two runs or logs on the same images, image by image: B - A with exact intervals over images.

    Not for choosing radii by what is seen: the joint statement holds for radii that were chosen before.

    Args:
        a: a run, a run folder, or a log in the field's columns.
        b: another about the same images.
        radii: where to compare, in pixel units; at most nine that suit both by default.
        confidence: of intervals, from .5 to .999999.
        common: compare the images that both have, instead of refusing runs about different ones.
    """
    return compare_summaries(
        _summary("a", a), _summary("b", b), radii=radii, confidence=confidence, common=common
    )


def compare_summaries(
    a: Summary, b: Summary, *, radii: Sequence[float] | None, confidence: float, common: bool
) -> Comparison:
    """Compare what two summaries hold; arguments as for `compare`."""
    check_number(
        "confidence", confidence, 0.5, most=_MOST_CONFIDENCE, what="a probability from 0.5 to 0.999999"
    )
    pairs = pair(a, b, common=check_switch("common", common))
    at = _by_radius(a, b, pairs, _grid(a, b, radii), 1 - confidence)
    obstacle = acr_obstacle(a, b)
    return Comparison(
        a,
        b,
        pairs,
        confidence,
        at,
        (pairs.a.average_radius(), pairs.b.average_radius()),
        None if obstacle else _acr_interval(pairs, 1 - confidence),
        obstacle,
        tuple(remarks(a, b, pairs)),
    )


def _summary(name: str, given: Run | str | Path) -> Summary:
    if isinstance(given, Run):
        return Summary.of_run(given)
    check_kind(name, given, (str, Path), "a Run, or the path of a run folder or log")
    return Summary.of_path(check_path(name, given))


def _grid(a: Summary, b: Summary, radii: Sequence[float] | None) -> NDArray[np.float64]:
    return _fitting_grid(a, b) if radii is None else given_grid("radii", radii)


def _fitting_grid(a: Summary, b: Summary) -> NDArray[np.float64]:
    """Return at most nine radii: what both asked about, else what one asked about, else steps that suit both.

    Radii of which one cannot speak would widen the joint intervals of the others for nothing.
    """
    asking = [summary for summary in (a, b) if summary.asked is not None]
    if len(asking) < 2:
        return common_grid(asking or [a, b])
    shared = sorted(set(named_radii(a.asked or ())) & set(named_radii(b.asked or ())))
    return common_grid([replace(a, told=replace(a.reach, asked=tuple(shared)))] if shared else asking)


def _by_radius(
    a: Summary, b: Summary, pairs: Pairs, grid: NDArray[np.float64], alpha: float
) -> tuple[RadiusDifference, ...]:
    """Count the images that one certifies alone, and bound the difference where both can speak of a radius."""
    readings = (a.reach.read(pairs.a, grid), b.reach.read(pairs.b, grid))
    found = []
    for place, radius in enumerate(grid.tolist()):
        by_a, by_b = (one.correct & (one.radius >= radius) for one in (pairs.a, pairs.b))
        only_a, only_b = int((by_a & ~by_b).sum()), int((by_b & ~by_a).sum())
        notes = (readings[0].notes[place], readings[1].notes[place])
        counts = (only_b, only_a, len(pairs))
        alone, joint = (
            paired_difference_interval(*counts, level) if notes == (None, None) else None
            for level in (alpha, alpha / len(grid))
        )
        a_share, b_share = (float(reading.shares[place]) for reading in readings)
        found.append(RadiusDifference(radius, a_share, b_share, only_a, only_b, notes, alone, joint))
    return tuple(found)


def _acr_interval(pairs: Pairs, alpha: float) -> Ends | None:
    """Return an approximate interval of the mean difference of radii; None where the images show no spread."""
    radii = [np.where(one.correct, one.radius, 0.0) for one in (pairs.b, pairs.a)]
    return mean_interval(radii[0] - radii[1], alpha)
