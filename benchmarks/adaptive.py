"""Part "adaptive": CERTIFYADP image by image against this package, on the same images and the same radius."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import smoothcert as sc
from benchmarks import certifyadp_loop, cohen_loop
from benchmarks.measure import Draw, alternate, of_rival, spread
from benchmarks.networks import Planted, load
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table
from benchmarks.settings import NUM_CLASSES, SIGMA, Settings
from benchmarks.shares import some_shares
from benchmarks.wall_clock import certifies, planted_dataset

LOOP, STAGED, GROUP = "CERTIFYADP image by image", "ours, Staged", "ours, GroupSequential"


def run(settings: Settings) -> Part:
    """Let the three take turns; the loop uses the batch size that is best for it."""
    shares = some_shares(settings.adaptive_images)
    dataset = planted_dataset(shares)
    model = Planted(load("lenet").model).eval()
    per_vote = cohen_loop.seconds_per_vote(
        model,
        dataset.image(0),
        settings.batches,
        settings.calibration_seconds,
        sigma=SIGMA,
        num_classes=NUM_CLASSES,
    )
    best = min(per_vote, key=per_vote.__getitem__)
    ours = Ours(model, dataset.image(0), engine=settings.engine, workers=settings.workers)

    def loop() -> int:
        certify = partial(certifyadp_loop.certify, model, sigma=SIGMA, num_classes=NUM_CLASSES)
        return sum(certify(dataset.image(index), SIGMA, best).votes for index in range(len(dataset)))

    rivals: dict[str, Draw] = {
        LOOP: loop,
        STAGED: certifies(ours, dataset, sc.Staged(radius=SIGMA)),
        GROUP: certifies(ours, dataset, sc.GroupSequential(radius=SIGMA)),
    }
    measurements = alternate("adaptive", "lenet", rivals, settings.adaptive_repetitions)
    seconds = {name: [m.seconds for m in of_rival(measurements, name)] for name in rivals}
    votes = {name: [m.votes for m in of_rival(measurements, name)] for name in rivals}
    factors = {
        name: asdict(spread([a / b for a, b in zip(seconds[LOOP], seconds[name], strict=True)]))
        for name in rivals
    }
    summary = {
        "shares": shares.source,
        "images": len(dataset),
        "batch_of_the_loop": best,
        "votes": {name: asdict(spread(found)) for name, found in votes.items()},
        "seconds": {name: asdict(spread(found)) for name, found in seconds.items()},
        "times_faster_than_the_loop": factors,
    }
    return Part([m.row() for m in measurements], summary)


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = [
        [
            name,
            shown(summary["votes"][name], 0),
            shown(summary["seconds"][name], 2),
            shown(summary["times_faster_than_the_loop"][name], 2) + "x",
        ]
        for name in summary["seconds"]
    ]
    about = (
        f"{summary['images']} images at r = sigma, LeNet with the vote shares of {summary['shares']}; the loop "
        f"runs at its best batch, {summary['batch_of_the_loop']}."
    )
    head = ["rival", "votes", "seconds", "times faster than the loop"]
    return f"### Early stopping\n\n{about}\n\n{table(head, rows)}"
