"""Whether threads are enough: does a classifier let go of the interpreter lock while it works?"""

from __future__ import annotations

import logging
import math
import sys
import threading
import time
from collections.abc import Callable

import torch

from smoothcert.engines import MIN_ROWS, Engine
from smoothcert.sampling.threads import single_threaded_torch

WORTH_SECONDS = 4.0
"""Work of one worker from which measuring, and starting processes, is won back."""
HELD = 1.5
"""Two threads at once take 1 times as long as one that is free of the lock, and 2 times if they take turns."""
_MEASURED_SECONDS = 0.05
_MOST_CALLS = 50
_ROWS = 4 * MIN_ROWS

_log = logging.getLogger("smoothcert")


def needs_processes(engine: Engine, votes: int, workers: int) -> bool:
    """Return whether workers should be processes; changes the time that votes take and no vote.

    A module is never measured: its kernels let go of the lock. A callable is, once, and only if the votes planned
    are worth it.

    Args:
        engine: executes the classifier; what was measured is kept in its `releases_lock`.
        votes: how many are planned.
        workers: how many will work; one needs no second process.
    """
    if workers == 1 or engine.releases_lock:
        return False
    if engine.releases_lock is None:
        with single_threaded_torch():
            released = measure(_caller(engine), votes / _ROWS)
        if released is None:
            return False
        engine.releases_lock = released
    if engine.releases_lock:
        return False
    if not can_fork():
        _log.warning("the model holds the interpreter lock and cannot be forked here; workers are threads")
        return False
    return True


def measure(
    call: Callable[[], None], calls_planned: float, clock: Callable[[], float] = time.perf_counter
) -> bool | None:
    """Return whether `call` lets go of the lock: calls of one thread against those of two at the same time.

    None if the planned calls are too little work to find out, or if a call fails: whoever needs the answer will
    meet the same error and can say more about it.

    Args:
        call: asks the classifier once.
        calls_planned: how many such calls there will be.
        clock: seconds.
    """
    try:
        call()  # the first call may set things up
        start = clock()
        call()
        each = clock() - start
        if each * calls_planned < WORTH_SECONDS:
            return None
        times = max(1, min(_MOST_CALLS, math.ceil(_MEASURED_SECONDS / max(each, 1e-9))))
        alone = _seconds(call, times, threads=1, clock=clock)
        together = _seconds(call, times, threads=2, clock=clock)
    except Exception:
        return None
    return not holds_lock(alone, together)


def holds_lock(alone: float, together: float) -> bool:
    """Return whether two threads that took `together` seconds for the work that takes one `alone` took turns."""
    return together > HELD * alone


def can_fork() -> bool:
    """Return whether a child of this process could run a model: on Linux, and before CUDA was used."""
    return sys.platform == "linux" and not torch.cuda.is_initialized()  # type: ignore[no-untyped-call]


def _caller(engine: Engine) -> Callable[[], None]:
    batch = engine.example.expand(_ROWS, *engine.example.shape).contiguous()

    def call() -> None:
        engine.forward(batch.clone())

    return call


def _seconds(call: Callable[[], None], times: int, *, threads: int, clock: Callable[[], float]) -> float:
    """Return the seconds until each of some threads has called so many times; raise what a call raised."""
    failures: list[Exception] = []

    def work() -> None:
        torch.set_num_threads(1)  # the setting is kept per thread
        try:
            for _ in range(times):
                call()
        except Exception as error:
            failures.append(error)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    start = clock()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return clock() - start
