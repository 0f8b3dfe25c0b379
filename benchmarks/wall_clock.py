"""Part "wall_clock": many images that stop early, against their votes at the price of bare forward passes.

What lies between the two is what the scheduler is for: batches that stay full while images finish one by one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import smoothcert as sc
from benchmarks.bare_forward import BareForward
from benchmarks.measure import Draw, alternate, of_rival, ratio, whole_batches
from benchmarks.networks import Planted, load, planted_images
from benchmarks.ours import Ours, votes_of
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import SIGMA, Settings
from benchmarks.shares import Shares, some_shares
from benchmarks.speed_table import BARE, OURS
from smoothcert.certificates.procedure import Procedure

MOST_RATIO = 1.2


def planted_dataset(shares: Shares, shape: tuple[int, ...] = (1, 28, 28)) -> sc.Dataset:
    """Return images on which a `Planted` network has these vote shares (shares below 1/2 count as 1/2).

    Args:
        shares: one per image.
        shape: of one image.
    """
    images = planted_images(np.maximum(shares.p, 0.5), SIGMA, shape)
    return sc.Dataset.from_arrays(
        images, np.ones(len(images), dtype=np.int64), name="planted", class_names=[str(c) for c in range(10)]
    )


def certifies(
    ours: Ours, dataset: sc.Dataset, procedure: Procedure, indices: Sequence[int] | None = None
) -> Draw:
    """Return the work of certifying a data set into a run folder, as a user does; the folder is thrown away.

    Args:
        ours: the classifier, warm.
        dataset: images and labels.
        procedure: how to spend votes.
        indices: which images; None: all.
    """

    def draw() -> int:
        with tempfile.TemporaryDirectory() as folder:
            return votes_of(ours.certify_many(dataset, procedure, Path(folder) / "run", indices))

    return draw


def run(settings: Settings) -> Part:
    """Certify the images in turns with bare forward passes on the same engine."""
    shares = some_shares(settings.wall_images)
    dataset = planted_dataset(shares)
    ours = Ours(
        Planted(load("lenet").model).eval(),
        dataset.image(0),
        engine=settings.engine,
        workers=settings.workers,
    )
    bare = BareForward(ours.engine, dataset.image(0), workers=settings.workers, batch=ours.batch)
    together = settings.workers * ours.batch
    bare(together)
    votes = whole_batches(20_000 * settings.seconds, together)
    rivals = {
        BARE: lambda: bare(votes),
        OURS: certifies(ours, dataset, sc.GroupSequential(radius=SIGMA)),
    }
    measurements = alternate("wall_clock", "lenet", rivals, settings.wall_repetitions)
    last = of_rival(measurements, OURS)[-1]
    summary = {
        "shares": shares.source,
        "images": len(dataset),
        "engine": ours.engine.engine_name,
        "votes": last.votes,
        "seconds": [m.seconds for m in of_rival(measurements, OURS)],
        "setup_seconds": ours.setup_seconds,
        "wall_over_votes": asdict(ratio(measurements, OURS, BARE)),
    }
    return Part([m.row() for m in measurements], summary)


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    seconds = " / ".join(f"{s:.1f}" for s in summary["seconds"])
    found = summary["wall_over_votes"]
    line = [
        summary["images"],
        f"{summary['votes']:,}",
        seconds,
        shown(found, 3),
        verdict(found["median"], most=MOST_RATIO),
    ]
    head = ["images", "votes", "seconds", "wall over votes x seconds per bare vote", "goal"]
    about = (
        f"GroupSequential at r = sigma on a LeNet with the vote shares of {summary['shares']}; engine "
        f"{summary['engine']}, ready after {summary['setup_seconds']:.1f} s (not counted)."
    )
    return f"### Wall clock of many images\n\n{about}\n\n{table(head, [line])}"
