"""Real runs with one and two workers of Ray on a small network, and what simulation says of the same votes."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import smoothcert as sc
from benchmarks.measure import spread
from benchmarks.networks import Planted, load
from benchmarks.ours import votes_of
from benchmarks.settings import ALPHA, NUM_CLASSES, SIGMA
from benchmarks.shares import some_shares
from benchmarks.simulation.costs import WorkerCosts
from benchmarks.simulation.made_up_votes import MadeUpVotes
from benchmarks.simulation.measuring.crowd import Crowd
from benchmarks.simulation.measuring.driver import crowd_run, told
from benchmarks.simulation.measuring.notes import Notes
from benchmarks.simulation.measuring.timed_execution import TimedExecution
from benchmarks.simulation.recorded_votes import RecordedVotes
from benchmarks.simulation.scenarios import SEED, procedures
from benchmarks.simulation.simulate import simulate
from benchmarks.wall_clock import planted_dataset
from smoothcert.certificates import Procedure
from smoothcert.sampling import CHUNK_VOTES, Chunk, Pool, VoteSource, check_batch_size

RADIUS, MOST = SIGMA, 1_000
IMAGES = {"fixed": 10, "staged": 30, "sequential": 60, "group": 60}  # some seconds each
_ROUNDS = 2
_SECONDS = 2.0  # of each calibration


def measured_workers(known: dict[str, Any]) -> dict[str, Any]:
    """Return seconds of real and simulated runs by number of workers and procedure."""
    network = Planted(load("lenet").model).eval()
    runs: dict[int, dict[str, tuple[list[Notes], RecordedVotes, int]]] = {}
    costs: dict[int, WorkerCosts] = {}
    with sc.RayExecution(workers=3):  # room for one worker, and then for two more
        for workers in (1, 2):
            classifier = sc.SmoothedClassifier(network, sc.Gaussian(SIGMA), NUM_CLASSES)
            source = _source(classifier)
            rows = check_batch_size(None, source.engine.example, source.engine)
            with TimedExecution(sc.RayExecution(workers=workers), workers) as execution:
                with execution.pool(source, rows) as pool:
                    costs[workers] = _calibrated(pool, source, rows)
                print(workers, costs[workers], flush=True)
                runs[workers] = {
                    name: _real_runs(classifier, procedure, IMAGES[name], execution)
                    for name, procedure in procedures(RADIUS, MOST).items()
                }
    with Crowd(2) as crowd:
        figures = {
            str(workers): {
                name: _compared(crowd, workers, name, costs[workers], rows, *run)
                for name, run in found.items()
            }
            for workers, found in runs.items()
        }
    return {
        "network": "lenet",
        "engine": source.engine.engine_name,
        "rows": rows,
        "worker_costs": {str(workers): asdict(one) for workers, one in costs.items()},
        "runs": figures,
    }


def _source(classifier: sc.SmoothedClassifier) -> VoteSource:
    example = planted_dataset(some_shares(2)).image(0)
    procedure = sc.FixedSample(n=100_000)
    return classifier.certification(procedure, alpha=ALPHA, seed=SEED, engine="auto", example=example)


def _calibrated(pool: Pool, source: VoteSource, rows: int) -> WorkerCosts:
    """Return what jobs and votes cost workers that are never without a job, and how far away they are."""
    batch = max(1, rows // CHUNK_VOTES)
    numbers = iter(range(10**9))

    def order(batches: int) -> tuple[list[Any], list[Chunk]]:
        chunks = [
            Chunk(source.engine.example, 0, "calibration", next(numbers), CHUNK_VOTES)
            for _ in range(batches * batch)
        ]
        return [(_Undecided, chunk) for chunk in chunks], chunks

    def busy(batches: int) -> float:
        """Return the seconds of one worker for a job of so many batches."""
        done, begin = 0, 0.0
        for _ in range(2 * pool.workers):
            pool.submit(*order(batches))
        while done == 0 or time.perf_counter() - begin < _SECONDS:
            pool.collect()
            if done == 0:
                begin = time.perf_counter()
            done += 1
            pool.submit(*order(batches))
        seconds = time.perf_counter() - begin
        while pool.outstanding:
            pool.collect()
        return seconds * pool.workers / (done - 1)

    busy(1)
    small, large = busy(1), busy(16)
    vote = (large - small) / (15 * batch * CHUNK_VOTES)
    alone = []
    for _ in range(50):
        begin = time.perf_counter()
        pool.submit(*order(1))
        pool.collect()
        alone.append(time.perf_counter() - begin)
    return WorkerCosts(
        vote=vote,
        job=max(small - vote * batch * CHUNK_VOTES, 0.0),
        delay=max((float(np.median(alone)) - small) / 2, 0.0),
    )


class _Undecided:
    """Stands for an image that is never decided."""

    decided = False


def _real_runs(
    classifier: sc.SmoothedClassifier, procedure: Procedure, images: int, execution: TimedExecution
) -> tuple[list[Notes], RecordedVotes, int]:
    """Certify some rounds; return their notes, and the votes, which are those of every round."""
    dataset = planted_dataset(some_shares(images))
    first = len(execution.notes)
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            run = sc.certify(
                classifier,
                dataset,
                procedure=procedure,
                alpha=ALPHA,
                seed=SEED,
                out=Path(folder) / "run",
                execution=execution,
                show_progress=False,
            )
            votes = RecordedVotes(Path(folder) / "run", NUM_CLASSES)
        print(f"{execution.notes[-1].seconds:.1f} s of {images} images", flush=True)
    return execution.notes[first:], votes, votes_of(run)


def _compared(
    crowd: Crowd,
    workers: int,
    name: str,
    worker: WorkerCosts,
    rows: int,
    notes: list[Notes],
    votes: RecordedVotes,
    needed: int,
) -> dict[str, Any]:
    """Measure the driver by a crowd of as many, then simulate each round: its own votes, drawn as fast as there.

    The speed of votes is taken from the round, as its workers told it, because that of a machine drifts; what is
    predicted is what schedule, driver and queues make of it.
    """
    procedure, images = procedures(RADIUS, MOST)[name], IMAGES[name]
    shares = np.maximum(some_shares(images).p, 0.5)
    crowd.gather(workers, MadeUpVotes(shares, NUM_CLASSES, SEED), worker.vote, sleeps=False)
    driven, _ = crowd_run(crowd, (1, 28, 28), NUM_CLASSES, SIGMA, procedure, images, rows)
    plan, driver = procedure.plan(sc.Gaussian(SIGMA), ALPHA), driven.costs()
    rounds = []
    for one in notes:
        simulated = simulate(
            plan,
            votes,
            range(images),
            workers=workers,
            batch_size=rows,
            driver=driver,
            worker=replace(worker, vote=one.worked / one.votes),
        )
        rounds.append({"real_seconds": one.seconds, "simulated_seconds": simulated.seconds})
    compared = {
        "images": images,
        "votes": needed,
        "real_drawn": notes[-1].votes,
        "real_jobs": notes[-1].jobs,
        "simulated_drawn": simulated.votes + simulated.wasted,
        "simulated_jobs": simulated.jobs,
        "rounds": rounds,
        "simulated_over_real": asdict(spread([r["simulated_seconds"] / r["real_seconds"] for r in rounds])),
        "driver": told(driven),
    }
    print(workers, name, {key: value for key, value in compared.items() if key != "driver"}, flush=True)
    return compared
