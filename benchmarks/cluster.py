"""Part "cluster": workers of a Ray cluster of this machine against threads, and what driving them costs."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import smoothcert as sc
from benchmarks.measure import Draw, alternate, rate, ratio, spread, timed, whole_batches
from benchmarks.networks import load
from benchmarks.ours import SEED
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import ALPHA, N0, NUM_CLASSES, SIGMA, Settings
from smoothcert.certificates import Certification
from smoothcert.sampling import Pool, check_batch_size
from smoothcert.sampling.schedule import run_schedule

THREADS, ONE, TWO = "two threads here", "one worker of Ray", "two workers of Ray"
LEAST_SPEEDUP, MOST_OVER_THREADS, MOST_DRIVER = 1.7, 1.1, 0.01
_IMAGES = 4  # whose votes are mixed in a measurement


def run(settings: Settings) -> Part:
    """Let threads, one worker and two workers take turns with the same votes; pools are open, so nobody starts up."""
    network = load(settings.cluster_network)
    classifier = sc.SmoothedClassifier(network.model, sc.Gaussian(SIGMA), NUM_CLASSES)

    def certification(n: int) -> Certification:
        procedure = sc.FixedSample(n0=N0, n=n)
        return classifier.certification(
            procedure, alpha=ALPHA, seed=SEED, engine=settings.engine, example=network.image, images=_IMAGES
        )

    first = certification(N0)
    rows = check_batch_size(None, network.image, first.engine)
    driver: dict[str, list[float]] = {ONE: [], TWO: []}
    with ExitStack() as stack:
        stack.enter_context(sc.RayExecution(workers=3))
        pools = {THREADS: stack.enter_context(sc.LocalExecution(2).pool(first, rows))}
        for name, workers in ((ONE, 1), (TWO, 2)):
            pools[name] = stack.enter_context(sc.RayExecution(workers=workers).pool(first, rows))
            _wait_for(pools[name], workers)

        def draws(name: str, n: int) -> Draw:
            return lambda: _drawn(certification(n), network.image, pools[name], rows, driver.get(name))

        drawn, seconds = timed(draws(THREADS, 2 * rows))
        n = whole_batches(settings.cluster_seconds * drawn / seconds / _IMAGES, rows)
        for name in pools:  # warm
            draws(name, n)()
        for shares in driver.values():
            shares.clear()
        rivals = {name: draws(name, n) for name in pools}
        measured = alternate("cluster", network.name, rivals, settings.cluster_repetitions)
    summary = {
        "network": network.name,
        "engine": first.engine.engine_name,
        "votes": _IMAGES * (N0 + n),
        "votes_per_second": {name: asdict(rate(measured, name)) for name in rivals},
        "speedup": asdict(ratio(measured, ONE, TWO)),
        "over_threads": asdict(ratio(measured, TWO, THREADS)),
        "driver_over_workers": {name: asdict(spread(shares)) for name, shares in driver.items()},
    }
    return Part([m.row() for m in measured], summary)


def _wait_for(pool: Any, workers: int) -> None:
    """Let a pool of Ray meet all its workers: it works as soon as it has one."""
    while pool.workers < workers:
        pool.look_after()


def _drawn(
    certification: Certification, image: Any, pool: Pool, rows: int, shares: list[float] | None
) -> int:
    """Draw the votes of some images; note the driver's seconds of processor time over those of the workers."""
    before, votes, worked = time.process_time(), 0, 0.0
    samplings = (certification.sampling(index, image) for index in range(_IMAGES))
    for sampling in run_schedule(samplings, pool, batch_size=rows):
        votes, worked = votes + sampling.votes_counted, worked + sampling.seconds
    if shares is not None:
        shares.append((time.process_time() - before) / worked)
    return votes


def render(summary: dict[str, Any]) -> str:
    """Return the part's tables."""
    about = (
        f"{summary['network']}, engine {summary['engine']}, {summary['votes']:,} votes of {_IMAGES} images; a Ray "
        "cluster of this machine whose workers are ready."
    )
    speed = [[name, shown(value, 0)] for name, value in summary["votes_per_second"].items()]
    driver = summary["driver_over_workers"][TWO]
    goals = [
        ("two workers over one", summary["speedup"], {"least": LEAST_SPEEDUP}),
        ("time of two workers over two threads", summary["over_threads"], {"most": MOST_OVER_THREADS}),
        ("processor time of the driver over the workers'", driver, {"most": MOST_DRIVER}),
    ]
    rows = [[text, shown(value, 4), verdict(value["median"], **goal)] for text, value, goal in goals]
    first, second = table(["who draws", "votes per second"], speed), table(["figure", "value", "goal"], rows)
    return f"### Cluster\n\n{about}\n\n{first}\n\n{second}"
