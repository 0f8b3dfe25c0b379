"""Try some images of a run, to tell what all of it would cost."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from smoothcert.certificates import (
    Certification,
    Procedure,
    SmoothedClassifier,
    check_match,
)
from smoothcert.data import Dataset
from smoothcert.execution import TRIAL_SECONDS, RunPreview, Speed, Trial, find_rivals, guiding_plan, preview
from smoothcert.progress import progress
from smoothcert.sampling import CHUNK_VOTES, check_batch_size, check_workers

_SPEED_SHARE = 0.2  # of the time, for each number of workers


def preview_run(
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
) -> RunPreview:
    """Try some images and return the range of votes and time, by procedure and number of workers.

    Nothing is certified and nothing is written.

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
    here = check_workers(workers)
    certification.check({indices[0]: example}, batch_size=rows)
    set_up = started + time.monotonic() - start
    rivals = find_rivals(procedure, certification.noise, alpha)
    with progress("trying", int(seconds) + 1, shown=True) as show:
        trial = Trial(certification, dataset, indices, rows, guiding_plan(rivals), show)
        speeds = {
            number: trial.speed(number, _SPEED_SHARE * seconds)
            for number in sorted({1, here, check_workers(None)})
        }
        pilot = trial.pilot(speeds[here], max(seconds - _SPEED_SHARE * seconds * len(speeds), 0.0))
        told = RunPreview(
            costs=preview(pilot, rivals),
            speeds=tuple(speeds.values()),
            here=speeds[here],
            pilot=pilot,
            images=len(indices),
            set_up=set_up,
            engine=certification.engine_told,
            memory_mb=_memory_mb(rows, example.numel(), here),
            trial_seconds=seconds,
        )
        if not told.is_long:
            return told
        return replace(told, autocast_gain=_autocast_gain(bound, trial, speeds[here], _SPEED_SHARE * seconds))


def _memory_mb(rows: int, coordinates: int, workers: int) -> float:
    """Return what the program has taken up so far, and the noisy images of every worker."""
    noise_mb = (rows + CHUNK_VOTES) * coordinates * 4 / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + noise_mb * workers


def _autocast_gain(bound: Callable[[str], Certification], trial: Trial, here: Speed, seconds: float) -> float:
    """Return how many times as fast the engine autocast is here; 1 where it cannot run the model."""
    other = bound("autocast")
    if not other.engine.engine_name.startswith("autocast"):
        return 1.0
    return trial.with_other(other).speed(here.workers, seconds).mean / here.mean
