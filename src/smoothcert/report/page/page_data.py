"""What the page's script draws: curves rounded in the safe direction, and one entry per image and column."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Outcome
from smoothcert.radii import named_radii
from smoothcert.report.figures.accuracy_curve import AccuracyCurve, accuracy_curve, end_text, kept_steps
from smoothcert.report.figures.style import printable
from smoothcert.report.page.promises import radius_axis
from smoothcert.report.summary import CONFIDENCE, Summary
from smoothcert.report.tables.accuracy_cells import interval_cells, share_cells
from smoothcert.report.tables.attack_table import attack_radii, check_same_images
from smoothcert.store import AttackResults
from smoothcert.theory import LogProbabilityGaps

_ATTACK_STEPS = 400
_HOVERED = 240  # radii at which values can be read
_DIGITS = 5
_BINS = 60
_OUTCOMES = tuple(Outcome)


def page_data(
    summaries: Sequence[Summary],
    *,
    norm: str,
    class_names: Sequence[str],
    attack: AttackResults | None = None,
    gaps: Mapping[str, LogProbabilityGaps] | None = None,
) -> dict[str, Any]:
    """Return all that the figures show, as plain values.

    Args:
        summaries: the runs and logs, the main one last.
        norm: of the radii.
        class_names: by class; numbers are shown for those beyond.
        attack: on the images of the last run.
        gaps: log-probability gaps by the name of the run.
    """
    if attack is not None:
        check_same_images(attack, summaries[-1])
    curves = [accuracy_curve(summary) for summary in summaries]
    hovered = _hovered(summaries)
    return {
        "runs": [_run(summary, curve, hovered) for summary, curve in zip(summaries, curves, strict=True)],
        "hovered": hovered.tolist(),
        "classNames": [printable(name) for name in class_names],
        "radiusAxis": radius_axis(norm),
        "outcomes": [outcome.value for outcome in _OUTCOMES],
        "ends": end_text(curves),
        "attack": None if attack is None else _attack(attack, hovered),
        "gaps": _gaps(gaps or {}, [summary.name for summary in summaries]),
    }


def script_json(values: Any) -> str:
    """Return values as JSON that can stand inside a script element, whatever texts are in it."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _run(summary: Summary, curve: AccuracyCurve, hovered: NDArray[np.float64]) -> dict[str, Any]:
    results = summary.results
    outcomes = None
    if summary.run is not None:
        codes = {outcome.name: code for code, outcome in enumerate(_OUTCOMES)}
        outcomes = [codes[name] for name in summary.run.columns["outcome"]]
    return {
        "name": printable(summary.name),
        "curve": _curve(summary, curve),
        "hover": _hover(summary, hovered),
        "images": {
            "index": results.index.tolist(),
            "label": results.label.tolist(),
            "predicted": results.predicted.tolist(),
            "radius": _floors(results.radius),
            "share": None if summary.p_hat is None else _floors(summary.p_hat),
            "votes": None if summary.samples is None else summary.samples.tolist(),
            "outcome": outcomes,
        },
    }


def _curve(summary: Summary, curve: AccuracyCurve) -> dict[str, Any]:
    """Return a curve in few steps: where some are left out, it has the value of the next larger radius."""
    kept = kept_steps(curve.shares)
    radii, shares = curve.radii[kept], curve.shares[kept]
    low, high = summary.results.certified_accuracy_interval(radii, CONFIDENCE)
    return {
        "radii": [_down(radius) for radius in radii.tolist()],
        "shares": _percents(shares),
        "low": _percents(low),
        "high": _percents(high, up=True),
        "asked": [_down(radius) for radius in curve.asked.tolist()],
        "askedShares": _percents(summary.results.certified_accuracy(curve.asked)),
        "ends": bool(curve.ends),
    }


def _hovered(summaries: Sequence[Summary]) -> NDArray[np.float64]:
    """Return the radii at which runs can be read: those that were asked, and more where one looked for the largest."""
    largest = max(summary.largest_radius for summary in summaries)
    asked = [radius for summary in summaries for radius in summary.asked or () if radius <= 2 * largest]
    if all(summary.asked is not None for summary in summaries) and asked:
        return np.unique(named_radii(asked))
    return np.unique(named_radii([*np.linspace(0, largest, _HOVERED).tolist(), *asked]))


def _hover(summary: Summary, radii: NDArray[np.float64]) -> dict[str, list[Any]]:
    """Return what is said of a run at each radius, as in tables, and where to say it; null where nothing can be."""
    reading = summary.read(radii)
    texts = zip(reading.notes, share_cells(reading), interval_cells(summary.results, reading), strict=True)
    told = [
        None if note is not None and note.hides else f"{cell}% ({between})" if between else f"{cell}%"
        for note, cell, between in texts
    ]
    heights = _percents(reading.shares)
    return {
        "heights": [None if text is None else y for text, y in zip(told, heights, strict=True)],
        "texts": told,
    }


def _attack(attack: AttackResults, hovered: NDArray[np.float64]) -> dict[str, Any]:
    """Return what an attack left standing: an upper bound, so it is rounded up."""
    asked = attack_radii(attack)
    end = float(asked[-1])
    broken = np.unique(attack.broken_at[attack.broken_at <= end])
    radii = np.unique([0.0, *broken[:: -(-len(broken) // _ATTACK_STEPS) or 1].tolist(), end])
    return {
        "method": str(attack.settings["method"]),
        "radii": radii.tolist(),
        "shares": _percents(attack.accuracy(radii), up=True),
        "hovered": [
            share if radius <= end else None
            for radius, share in zip(
                hovered.tolist(), _percents(attack.accuracy(hovered), up=True), strict=True
            )
        ],
        "asked": asked.tolist(),
        "askedShares": _percents(attack.accuracy(asked), up=True),
    }


def _gaps(gaps: Mapping[str, LogProbabilityGaps], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the histograms of runs that have one, in bins that all share."""
    known = [(place, gaps[name]) for place, name in enumerate(names) if name in gaps]
    if not known:
        return []
    everything = np.concatenate([found.gaps for _, found in known])
    low, high = min(float(everything.min()), 0.0), max(float(everything.max()), 0.0)
    edges = np.linspace(low, high if high > low else low + 1.0, _BINS + 1)
    return [
        {
            "run": place,
            "index": found.index,
            "label": found.label,
            "copies": len(found.gaps),
            "edges": [float(f"{edge:.5g}") for edge in edges],
            "shares": [
                round(float(share), 7) for share in np.histogram(found.gaps, edges)[0] / len(found.gaps)
            ],
        }
        for place, found in known
    ]


def _down(value: float) -> float:
    """Return a value rounded down, never above what it was."""
    scale = 10.0**_DIGITS
    rounded = math.floor(value * scale) / scale
    return rounded if rounded <= value else (math.floor(value * scale) - 1) / scale


def _floors(values: NDArray[np.float64]) -> list[float]:
    return [_down(value) for value in values.tolist()]


def _percents(shares: NDArray[np.float64], *, up: bool = False) -> list[float]:
    """Return fractions as percentages of two decimals, rounded down or up."""
    # The nine decimals undo what the division by the number of images left over.
    turn = math.ceil if up else math.floor
    return [turn(round(share * 10_000, 9)) / 100 for share in np.atleast_1d(shares).tolist()]
