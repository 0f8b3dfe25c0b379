"""A comparison of two runs as plain values."""

from __future__ import annotations

from typing import Any

from smoothcert.radii import radius_key
from smoothcert.report.comparing.comparison import Comparison, RadiusDifference
from smoothcert.report.summary import Summary


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """Return unrounded fractions for `--json`; null and the reason where a radius cannot be compared."""
    return {
        "a": _side_to_json(comparison.a, comparison.acr[0], comparison.pairs.only_a),
        "b": _side_to_json(comparison.b, comparison.acr[1], comparison.pairs.only_b),
        "images": len(comparison.pairs),
        "confidence": comparison.confidence,
        "certified_accuracy": {radius_key(one.radius): _radius_to_json(one) for one in comparison.at},
        "acr": {
            "difference": None if comparison.acr_obstacle else comparison.acr[1] - comparison.acr[0],
            "approximate_interval": comparison.acr_interval,
            "not_compared": comparison.acr_obstacle or None,
        },
        "b_certifies_more_at": [one.radius for one in comparison.b_more],
        "a_certifies_more_at": [one.radius for one in comparison.a_more],
        "conclusion": comparison.conclusion,
        "remarks": list(comparison.remarks),
    }


def _side_to_json(summary: Summary, acr: float, left_out: int) -> dict[str, Any]:
    return {
        "path": summary.name,
        "images": summary.images,
        "left_out": left_out,
        "missing_images": summary.missing,
        "failed_images": len(summary.failures),
        "acr": acr,
    }


def _radius_to_json(one: RadiusDifference) -> dict[str, Any]:
    shares = [
        None if note is not None and note.hides else share
        for share, note in zip((one.a, one.b), one.notes, strict=True)
    ]
    is_compared = one.interval is not None
    return {
        "a": shares[0],
        "b": shares[1],
        "only_a": one.only_a if is_compared else None,
        "only_b": one.only_b if is_compared else None,
        "difference": one.difference if is_compared else None,
        "interval": one.interval,
        "joint_interval": one.joint,
        "not_compared": None
        if is_compared
        else "; ".join(
            f"{side}: {note.value}" for side, note in zip("AB", one.notes, strict=True) if note is not None
        ),
    }
