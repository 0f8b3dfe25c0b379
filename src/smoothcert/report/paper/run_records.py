"""The rows of a table of runs as values for a machine: unrounded, fractions of images, radii in pixel units."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from smoothcert.certificates import Reading
from smoothcert.radii import radius_key
from smoothcert.report.members import MembersCurve
from smoothcert.report.paper.envelopes import curve_name
from smoothcert.report.paper.seed_group import Floats, SeedGroup, deviation


def run_records(
    groups: Sequence[SeedGroup], curves: Sequence[MembersCurve], grid: Floats
) -> Iterator[dict[str, Any]]:
    """Yield every run, every group of several, every envelope and average.

    Not rounded, so that means can be reckoned again from the runs; radii at which nothing can be said have no value,
    and the reason in the column beside it.

    Args:
        groups: of runs.
        curves: made of members.
        grid: radii of certified accuracy, in pixel units.
    """
    for group in groups:
        for one in group.members:
            alone = SeedGroup(one.name, (one,))
            yield {"kind": "run", **_record(alone, grid), "group": group.name if group.seeds > 1 else ""}
        if group.seeds > 1:
            yield {"kind": "mean over seeds", **_record(group, grid), "group": group.name}
    for curve in curves:
        told = curve.ensemble.reach.read(curve, grid)
        yield {
            "kind": "envelope" if curve.is_envelope else "average",
            "name": curve_name(curve),
            "seeds": None,
            "images": curve.members[0].images,
            "acr": curve.average_radius(),
            **_accuracies(told, np.full(len(grid), np.nan)),
        }


def _record(group: SeedGroup, grid: Floats) -> dict[str, Any]:
    votes = group.votes
    return {
        "name": group.name,
        "seeds": group.seeds,
        "images": group.members[0].images,
        "missing_images": sum(one.missing for one in group.members),
        "failed_images": sum(len(one.failures) for one in group.members),
        "acr": float(group.acrs.mean()),
        "acr_sd": _known(float(deviation(group.acrs))),
        "abstained": float(group.abstained.mean()),
        "abstained_sd": _known(float(deviation(group.abstained))),
        "votes": None if votes is None else float(votes.mean()),
        "votes_sd": None if votes is None else _known(float(deviation(votes))),
        **_accuracies(group.read(grid), deviation(group.shares(grid))),
    }


def _accuracies(reading: Reading, spread: Floats) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for radius, share, note, sd in zip(
        reading.radii.tolist(), reading.told, reading.notes, spread.tolist(), strict=True
    ):
        key = f"certified_accuracy_{radius_key(radius)}"
        record[key] = share
        record[f"{key}_sd"] = None if share is None else _known(sd)
        record[f"{key}_note"] = "" if note is None else note.value
    return record


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
