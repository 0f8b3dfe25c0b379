"""Part "linear": seconds over votes, and over images, on double logarithmic axes; LeNet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.measure import Draw, Measurement, alternate, fitted_exponent, of_rival
from benchmarks.memory import FEW_VOTES, random_images
from benchmarks.networks import load
from benchmarks.ours import Ours, votes_of
from benchmarks.report import Part, table, verdict
from benchmarks.settings import Settings

TOLERANCE = 0.03


def run(settings: Settings) -> Part:
    """Time growing numbers of votes for one image, then of images with 64 votes each."""
    network = load("lenet")
    ours = Ours(network.model, network.image, engine=settings.engine, workers=settings.workers)

    def many_votes(n: int) -> Draw:
        return lambda: ours.certify(network.image, n).votes

    def many_images(count: int) -> Draw:
        dataset = random_images(count)
        return lambda: votes_of(ours.certify_many(dataset, FEW_VOTES))

    jobs = {f"{n} votes": many_votes(n) for n in settings.line_votes}
    jobs |= {f"{count} images": many_images(count) for count in settings.line_images}
    measurements = alternate("linear", "lenet", jobs, settings.line_repetitions)
    lines = {
        "votes": _line(measurements, settings.line_votes, "votes"),
        "images": _line(measurements, settings.line_images, "images"),
    }
    return Part([m.row() for m in measurements], {"lines": lines})


def _line(measurements: Sequence[Measurement], sizes: Sequence[int], what: str) -> dict[str, Any]:
    """Return the median seconds at each size and the exponent fitted to them."""
    found = [of_rival(measurements, f"{size} {what}") for size in sizes]
    seconds = [float(np.median([m.seconds for m in group])) for group in found]
    drawn = [group[0].votes for group in found]  # n0 included, so the exponent is about votes really drawn
    return {
        "sizes": list(sizes),
        "votes": drawn,
        "seconds": seconds,
        "exponent": fitted_exponent(drawn, seconds),
    }


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = []
    for what, line in summary["lines"].items():
        points = ", ".join(
            f"{size:,}: {s:.2f}" for size, s in zip(line["sizes"], line["seconds"], strict=True)
        )
        goal = verdict(abs(line["exponent"] - 1), most=TOLERANCE)
        rows.append([what, points, f"{line['exponent']:.3f}", goal])
    head = ["over", "seconds (medians)", "fitted exponent", "goal for its distance from 1"]
    return f"### Linear cost\n\n{table(head, rows)}"
