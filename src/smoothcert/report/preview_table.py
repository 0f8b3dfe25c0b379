"""The cost preview as a table."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence

from smoothcert.certificates import Procedure, SmoothedClassifier, check_batch_size
from smoothcert.data import Dataset
from smoothcert.execution import calibrate, preview
from smoothcert.report.terminal import make_table, print_tables
from smoothcert.sampling import check_workers


def print_preview(
    classifier: SmoothedClassifier,
    dataset: Dataset,
    indices: Sequence[int],
    procedure: Procedure,
    *,
    alpha: float,
    seed: int | None,
    engine: str,
    workers: int | None,
    batch_size: int | None,
) -> None:
    """Try for two seconds and print expected votes, time and memory, by procedure and number of workers.

    Nothing is certified and nothing is written. The times take every worker to be as fast as one alone.
    """
    example = classifier.check_image(dataset.image(indices[0]))
    start = time.monotonic()
    certification = classifier.certification(
        procedure, alpha=alpha, seed=seed, engine=engine, example=example, images=len(indices)
    )
    rows = check_batch_size(batch_size, example, certification.engine)
    most = check_workers(workers)
    certification.check({indices[0]: example}, batch_size=rows)
    set_up = time.monotonic() - start
    found = calibrate(certification, dataset, indices, batch_size=rows)
    counts = sorted({1, most, 2 * most})
    costs = preview(found, procedure, classifier.noise, alpha, len(indices))
    table = make_table(
        f"Expected cost of {len(indices)} images",
        ("procedure", "votes/image", *(f"{n} worker{'s' * (n > 1)}" for n in counts)),
        (
            (
                cost.procedure,
                f"{cost.votes_per_image:,.0f}",
                *(_duration(set_up + cost.worker_seconds / n) for n in counts),
            )
            for cost in costs
        ),
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + found.buffer_bytes * most / 2**20
    small_print = (
        f"engine {certification.engine.engine_name}, set up in {set_up:.1f} s; "
        f"{1 / found.seconds_per_vote:,.0f} votes/s per worker; "
        f"about {memory:,.0f} MB in all, {found.buffer_bytes / 2**20:.1f} MB of it noise per worker.",
        f"From pilot votes of {len(found.shares)} images; nothing was written.",
    )
    print_tables([table], small_print, width=120)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
