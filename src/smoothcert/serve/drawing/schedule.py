"""One thread that draws the votes of all requests of one model, their chunks mixed in the same batches."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterator

from smoothcert.errors import EngineDisagreementError, UnsoundModelError
from smoothcert.sampling import VoteSource, WorkerPool, run_schedule
from smoothcert.serve.drawing.live_sampling import LiveSampling

_log = logging.getLogger("smoothcert.serve")
_Queue = queue.SimpleQueue[LiveSampling | None]


class _Arrivals(Iterator[LiveSampling]):
    """Requests as they come: none now is not none later, so it may be asked again after it ended."""

    def __init__(self, first: LiveSampling, waiting: _Queue) -> None:
        self._first: LiveSampling | None = first
        self._waiting = waiting
        self.closed = False

    def __next__(self) -> LiveSampling:
        first, self._first = self._first, None
        if first is not None:
            return first
        try:
            arrived = self._waiting.get_nowait()
        except queue.Empty:
            raise StopIteration from None
        if arrived is None:
            self.closed = True
            raise StopIteration
        return arrived


class Schedule:
    """Takes samplings at any time and draws what they ask for, in turns.

    An image that the model cannot answer fails by itself. A model that turns out to be unsound fails all that is
    under way and takes nothing more; any other fault fails what is under way, and new workers go on.

    Args:
        source: classifier and noise; every sampling brings its own seed.
        name: of the model, for the thread and the log.
        workers: that draw.
        batch_size: most rows per forward pass.
    """

    def __init__(self, source: VoteSource, name: str, *, workers: int, batch_size: int) -> None:
        self._source, self._name = source, name
        self._workers, self._batch_size = workers, batch_size
        self._waiting: _Queue = queue.SimpleQueue()
        self._open: set[LiveSampling] = set()
        self._lock = threading.Lock()
        self._closing = False
        self.fault: BaseException | None = None  # for which the model must not be asked any more
        self._thread = threading.Thread(target=self._run, name=f"schedule-{name}", daemon=True)
        self._thread.start()

    def submit(self, live: LiveSampling) -> None:
        """Draw for a sampling from now on, or let it fail where nothing is drawn any more."""
        with self._lock:
            refused = self.fault
            if refused is None and self._closing:
                refused = RuntimeError("the service is closing")
            if refused is None:
                self._open.add(live)
                self._waiting.put(live)
        if refused is not None:
            live.fail(refused)

    def close(self) -> None:
        """Leave all that is under way and wait for the thread."""
        with self._lock:
            self._closing = True
            for live in self._open:
                live.leave()
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while self.fault is None and not self._closing:
            started = False
            try:
                with WorkerPool(lambda: self._source.sampler(self._batch_size), self._workers) as pool:
                    started = True
                    self._draw(pool)
                return
            except (EngineDisagreementError, UnsoundModelError) as error:
                _log.critical("model %s is no longer served: %s", self._name, error)
                self._fail_all(error, for_good=True)
            except BaseException as error:
                _log.error("drawing for %s failed", self._name, exc_info=error)
                self._fail_all(error, for_good=not started)  # or it would be tried for ever

    def _draw(self, pool: WorkerPool) -> None:
        """Draw until the service closes."""
        while (first := self._waiting.get()) is not None:
            arrivals = _Arrivals(first, self._waiting)
            for live in run_schedule(arrivals, pool, batch_size=self._batch_size, turns=True):
                with self._lock:
                    self._open.discard(live)
                if live.fault is None:
                    live.end()
                else:
                    live.fail(live.fault.error)
            if arrivals.closed:
                return

    def _fail_all(self, error: BaseException, *, for_good: bool) -> None:
        with self._lock:
            if for_good:
                self.fault = error
            lost, self._open = self._open, set()
            while not self._waiting.empty():
                self._waiting.get()
        for live in lost:
            live.fail(error)
