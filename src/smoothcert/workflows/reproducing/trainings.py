"""Train what is not trained yet, one training per core at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import torch

from smoothcert.folders import CARD_FILE, read_card
from smoothcert.progress import progress
from smoothcert.training import FLOAT32, METRICS_FILE, STATE_FILE, is_emulated, read_header, train
from smoothcert.workflows.reproducing.estimate import training_seconds
from smoothcert.workflows.reproducing.model_places import ModelPlaces
from smoothcert.workflows.reproducing.plan import Training
from smoothcert.workflows.training_process import train_in_process

_LOOK_SECONDS = 2.0
_SCALE = 1_000  # parts of the whole that progress counts


def train_all(
    trainings: Sequence[Training], places: ModelPlaces, *, at_once: int, say: Callable[[str], None]
) -> None:
    """Train every network that is not trained yet; what is begun is continued after its last epoch.

    Args:
        trainings: what the table needs.
        places: where the networks are.
        at_once: how many train at the same time, each on one core in a process of its own.
        say: told in one line what is being done.
    """
    own = [
        _in_its_precision(_with_start(one, trainings, places), places)
        for one in trainings
        if places.before(one) is None
    ]
    left = []
    for one in own:
        if (places.of(one) / CARD_FILE).exists():
            train(one.config, places.of(one), resume=True, show_progress=False)  # refuses another training
        else:
            left.append(one)
    taken = len(trainings) - len(own)
    say(
        f"training {len(left)} networks, {at_once} at once; {len(own) - len(left)} are trained already, {taken} are "
        "taken from the models given"
    )
    left.sort(
        key=lambda one: -training_seconds(one.config)
    )  # the longest first: the last one waits for nobody
    for wave in ([one for one in left if one.start is None], [one for one in left if one.start is not None]):
        _train_wave(wave, places, at_once, say)


def _with_start(one: Training, trainings: Sequence[Training], places: ModelPlaces) -> Training:
    """Return a training that knows the folder of the network it begins with."""
    if one.start is None:
        return one
    first = next(other for other in trainings if (other.part, other.name) == (one.part, one.start))
    return replace(one, config=one.config.model_copy(update={"start": str(places.of(first))}))


def _in_its_precision(one: Training, places: ModelPlaces) -> Training:
    """Return a training that asks for bfloat16 as it was begun; a new one in float32 where bfloat16 is imitated.

    A budget asks for it to save time, and imitated it takes more. What was trained on another machine stays as it is.
    """
    if one.config.precision == FLOAT32:
        return one
    folder = places.of(one)
    if (folder / CARD_FILE).exists():
        is_float32 = read_card(folder).training.get("precision") == FLOAT32
    elif (folder / STATE_FILE).exists():
        is_float32 = read_header(folder).config.get("precision") == FLOAT32
    else:
        is_float32 = not torch.cuda.is_available() and is_emulated(one.config.precision)
    return replace(one, config=one.config.model_copy(update={"precision": FLOAT32})) if is_float32 else one


def _train_wave(
    left: Sequence[Training], places: ModelPlaces, at_once: int, say: Callable[[str], None]
) -> None:
    """Train networks of which none needs another."""
    if not left:
        return
    pool = ThreadPoolExecutor(at_once)
    try:
        jobs = {
            pool.submit(train_in_process, one.config, places.of(one), resume=True, show_progress=False): one
            for one in left
        }
        _watch(jobs, places, say)
    finally:
        pool.shutdown(cancel_futures=True)


def _watch(jobs: dict[Future[None], Training], places: ModelPlaces, say: Callable[[str], None]) -> None:
    """Show how far all trainings have come until the last ends; raise what one of them raised."""
    costs = {one.part + one.name: training_seconds(one.config) for one in jobs.values()}
    whole, waiting = sum(costs.values()) or 1.0, set(jobs)
    with progress("training", _SCALE, shown=True) as show:
        while waiting:
            done, waiting = wait(waiting, timeout=_LOOK_SECONDS, return_when=FIRST_EXCEPTION)
            for job in done:
                job.result()
                say(f"trained {jobs[job].part}/{jobs[job].name}")
            shares = {job: _share(places.of(one), one.config.epochs) for job, one in jobs.items()}
            gone = sum(costs[one.part + one.name] * shares[job] for job, one in jobs.items())
            begun = [
                f"{one.name} {round(shares[job] * one.config.epochs)} of {one.config.epochs}"
                for job, one in jobs.items()
                if job in waiting and job.running()
            ]
            show(int(_SCALE * gone / whole), f"epochs: {', '.join(begun)}")


def _share(folder: Path, epochs: int) -> float:
    """Return how much of a training is done, by its epochs."""
    try:
        with (folder / METRICS_FILE).open("rb") as lines:
            return min(sum(1 for _ in lines) / epochs, 1.0)
    except OSError:
        return 0.0
