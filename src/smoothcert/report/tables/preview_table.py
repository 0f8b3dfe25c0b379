"""The cost preview as a table: ranges, and what would shorten the run."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence

from smoothcert.certificates import (
    Certification,
    Procedure,
    SmoothedClassifier,
    check_match,
)
from smoothcert.data import Dataset
from smoothcert.execution import Cost, Pilot, Speed, Trial, find_rivals, guiding_plan, preview
from smoothcert.progress import progress
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.duration import show_range
from smoothcert.report.tables.terminal import print_tables
from smoothcert.sampling import CHUNK_VOTES, check_batch_size, check_workers

TRIAL_SECONDS = 5.0
_SPEED_SHARE = 0.2  # of the time, for each number of workers
_LONG = 60.0  # seconds from which on advice is given
_FASTER = 1.15  # from where on another engine or more workers are worth a line
_OVERHEAD = 1.1  # of a run over the pace of a trial: votes drawn in vain, storing, the last images alone
_START_SPREAD = 2.0  # of the time to start, which other programs and cold files lengthen
_ENOUGH_IMAGES = 500  # as papers certify of CIFAR-10


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
    seconds: float = TRIAL_SECONDS,
    started: float = 0.0,
) -> None:
    """Try some images and print the range of votes and time, by procedure and number of workers.

    Nothing is certified and nothing is written. Votes per image lie in their range for 95% of runs; times take the
    machine to be as busy as it is now.

    Args:
        seconds: how long to try.
        started: seconds that the program took to start, which a run takes too.

    The other arguments are those of the run.
    """
    check_match(classifier, dataset, indices)
    example = classifier.check_image(dataset.image(indices[0]))
    start = time.monotonic()

    def bound(engine: str) -> Certification:
        return classifier.certification(
            procedure, alpha=alpha, seed=seed, engine=engine, example=example, images=len(indices)
        )

    certification = bound(engine)
    rows = check_batch_size(batch_size, example, certification.engine)
    counts = sorted({1, check_workers(workers), check_workers(None)})
    certification.check({indices[0]: example}, batch_size=rows)
    set_up = started + time.monotonic() - start
    rivals = find_rivals(procedure, certification.noise, alpha)
    with progress("trying", int(seconds) + 1, shown=True) as show:
        trial = Trial(certification, dataset, indices, rows, guiding_plan(rivals), show)
        speeds = [trial.speed(number, _SPEED_SHARE * seconds) for number in counts]
        here = speeds[counts.index(check_workers(workers))]
        pilot = trial.pilot(here, max(seconds - _SPEED_SHARE * seconds * len(counts), 0.0))
        costs = preview(pilot, rivals)
        long = _seconds(costs[0], here, len(indices), set_up)[1] >= _LONG
        autocast = _autocast_gain(bound, trial, here, _SPEED_SHARE * seconds) if long else 1.0
    noise_mb = (rows + CHUNK_VOTES) * example.numel() * 4 / 2**20
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + noise_mb * here.workers
    columns = [speed for speed in speeds if speed.workers in (1, here.workers)]
    table = make_table(
        f"Cost of {len(indices):,} images, by the procedure asked for first",
        ("procedure", "votes/image", "95% range", *(_heading(speed) for speed in columns)),
        (_row(cost, columns, len(indices), set_up) for cost in costs),
    )
    small_print = (
        f"engine {certification.engine.engine_name}, started and set up in {set_up:.1f} s, about {memory:,.0f} MB; "
        "votes/s: "
        + ", ".join(f"{s.mean:,.0f} by {s.workers} ({s.slowest:,.0f} to {s.fastest:,.0f})" for s in speeds),
        _source(pilot, seconds),
        *_advice(costs, speeds, here, len(indices), set_up, autocast),
    )
    print_tables([table], small_print, width=120)


def _heading(speed: Speed) -> str:
    return f"{speed.workers} worker{'s' * (speed.workers > 1)}"


def _row(cost: Cost, speeds: Sequence[Speed], images: int, set_up: float) -> list[str]:
    votes = cost.votes
    known = round(votes.low) == round(votes.high)
    ends = "" if known else f"{_figure(votes.low)} to {_figure(votes.high)}"
    cells = [cost.rival.label, _figure(votes.mean), ends]
    return cells + [show_range(*_seconds(cost, speed, images, set_up)) for speed in speeds]


def _figure(votes: float) -> str:
    return f"{votes:,.0f}" if votes < 999_500 else f"{votes / 1e6:,.1f}M"


def _seconds(cost: Cost, speed: Speed, images: int, set_up: float) -> tuple[float, float]:
    """Return the shortest and the longest time that a run may take."""
    quick, slow = images * cost.votes.low / speed.fastest, images * cost.votes.high / speed.slowest
    return set_up + quick, _START_SPREAD * set_up + slow * _OVERHEAD


def _source(pilot: Pilot, seconds: float) -> str:
    least, most = int(pilot.drawn.min()), int(pilot.drawn.max())
    votes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    longer = "" if len(pilot) == pilot.images else f"; --trial-seconds {10 * seconds:g} narrows the range"
    return f"From {votes} votes of {len(pilot):,} of the images; nothing was written{longer}."


def _advice(
    costs: Sequence[Cost],
    speeds: Sequence[Speed],
    here: Speed,
    images: int,
    set_up: float,
    autocast: float,
) -> Iterator[str]:
    """Yield what would shorten the run, by figures of this trial; nothing for a run of a minute."""
    asked = costs[0]
    if _seconds(asked, here, images, set_up)[1] < _LONG:
        return
    lines = []
    if images >= 2 * _ENOUGH_IMAGES:
        every = images // _ENOUGH_IMAGES
        fewer = -(-images // every)
        time_left = show_range(*_seconds(asked, here, fewer, set_up))
        lines.append(f"--every {every}: {time_left}, for {fewer:,} of the images")
    best = min(costs, key=lambda cost: cost.votes.high)
    if best is not asked and best.votes.high < asked.votes.mean:
        lines.append(f"{best.rival.options}: {show_range(*_seconds(best, here, images, set_up))}")
    for speed in speeds:
        if speed.mean > _FASTER * here.mean:
            lines.append(f"--workers {speed.workers}: {speed.mean / here.mean:.1f} times as fast")
    if autocast > _FASTER:
        lines.append(
            f"--engine autocast: {autocast:.1f} times as fast; another classifier, in bfloat16, is certified then"
        )
    if lines:
        yield "What would shorten it, as measured here:"
        yield from (f"  {line}" for line in lines)


def _autocast_gain(bound: Callable[[str], Certification], trial: Trial, here: Speed, seconds: float) -> float:
    """Return how many times as fast the engine autocast is here; 1 where it cannot run the model."""
    other = bound("autocast")
    if not other.engine.engine_name.startswith("autocast"):
        return 1.0
    return trial.with_other(other).speed(here.workers, seconds).mean / here.mean
