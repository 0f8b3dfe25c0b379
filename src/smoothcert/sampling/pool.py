"""Workers: one single-threaded sampler per core.

Threads, not processes: torch and the noise release the interpreter lock in their kernels. One thread per
worker, because a many-threaded forward pass collapses as soon as another program wants a core.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import torch

from smoothcert.errors import InvalidArgumentError
from smoothcert.sampling.sampler import Chunk, ChunkVotes, Sampler


def default_workers() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int | None) -> int:
    """Return `workers` if it is a positive integer, or one per core for None."""
    if workers is None:
        return default_workers()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InvalidArgumentError(
            f"workers must be a positive integer or None (one per core), got {workers!r}"
        )
    return workers


_threads_lock = threading.Lock()
_threads_before: list[int] = []  # the setting found by the first of those who are inside, one entry each


@contextmanager
def single_threaded_torch() -> Iterator[None]:
    """Let torch use one thread in this thread (and new ones) and put the setting back when the last one leaves.

    The setting is one for the whole process, so callers in several threads must agree on who puts it back.
    """
    with _threads_lock:
        _threads_before.append(_threads_before[0] if _threads_before else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _threads_lock:
            before = _threads_before.pop()
            torch.set_num_threads(before if not _threads_before else 1)


class WorkerPool:
    """Draws batches of chunks on several threads, each with its own sampler.

    Not a scheduler: it takes batches as they are given and hands results back in the order they finish.
    An error in a worker is raised by `collect`.

    Args:
        make_sampler: makes one worker's sampler.
        workers: number of threads; 1 works in the calling thread.
    """

    def __init__(self, make_sampler: Callable[[], Sampler], workers: int) -> None:
        self.workers = workers
        self.outstanding = 0
        self._make = make_sampler
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._inline = make_sampler() if workers == 1 else None
        self._settings = single_threaded_torch()

    def __enter__(self) -> Self:
        self._settings.__enter__()
        if self._inline is None:
            self._threads = [
                threading.Thread(target=self._work, name=f"smoothcert-{i}", daemon=True)
                for i in range(self.workers)
            ]
            for thread in self._threads:
                thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(queue.Empty):  # after an error, do not work off what nobody waits for
            while True:
                self._jobs.get_nowait()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()
        self._settings.__exit__(None, None, None)

    def submit(self, tags: Sequence[Any], chunks: Sequence[Chunk]) -> None:
        """Hand in one batch; `tags` come back beside the votes of their chunks."""
        self.outstanding += 1
        self._jobs.put((tags, chunks))

    def collect(self) -> list[tuple[Any, ChunkVotes]]:
        """Wait for one batch and return its (tag, votes) pairs; raise what a worker raised."""
        if self._inline is not None:
            self._run(self._inline, self._jobs.get())
        result = self._done.get()
        self.outstanding -= 1
        if isinstance(result, BaseException):
            raise result
        return list(result)

    def _work(self) -> None:
        torch.set_num_threads(1)  # the setting is kept per thread
        try:
            sampler = self._make()
        except BaseException as error:
            self._done.put(error)
            return
        while (job := self._jobs.get()) is not None:
            self._run(sampler, job)

    def _run(self, sampler: Sampler, job: tuple[Sequence[Any], Sequence[Chunk]]) -> None:
        tags, chunks = job
        try:
            self._done.put(list(zip(tags, sampler.draw(chunks), strict=True)))
        except BaseException as error:
            self._done.put(error)
