"""Workers: one single-threaded sampler per core.

Threads, because torch and the noise release the interpreter lock in their kernels; each with a process of its own
for a classifier that holds it. One thread per worker, because a many-threaded forward pass collapses as soon as
another program wants a core.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import torch

from smoothcert.errors import InvalidArgumentError
from smoothcert.sampling.chunks import Chunk, ChunkVotes
from smoothcert.sampling.process_sampler import ProcessSampler
from smoothcert.sampling.sampler import Sampler
from smoothcert.sampling.threads import single_threaded_torch
from smoothcert.visible import brief

MOST_WORKERS = 1_024
"""Each is a thread with a buffer of its own, and maybe a process; more than cores gain nothing."""

_log = logging.getLogger("smoothcert")


def default_workers() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int | None) -> int:
    """Return `workers` if it is an integer from 1 to 1,024, or one per core for None."""
    if workers is None:
        return min(default_workers(), MOST_WORKERS)
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= MOST_WORKERS:
        raise InvalidArgumentError(
            f"workers must be a positive integer, at most {MOST_WORKERS:,}, or None (one per core), got "
            f"{brief(workers)}"
        )
    return workers


class WorkerPool:
    """Draws batches of chunks on several threads, each with its own sampler.

    Not a scheduler: it takes batches as they are given and hands results back in the order they finish.
    An error in a worker is raised by `collect`.

    Args:
        make_sampler: makes one worker's sampler.
        workers: number of threads; 1 works in the calling thread.
        processes: let each of several threads drive a process that does its work; where processes cannot be
            started, the threads do it.
        threads: whether they may: where not, one worker does it.
    """

    def __init__(
        self,
        make_sampler: Callable[[], Sampler],
        workers: int,
        *,
        processes: bool = False,
        threads: bool = True,
    ) -> None:
        self.workers = workers
        self.outstanding = 0
        self._make = make_sampler
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._children: list[ProcessSampler] = []
        self._processes, self._may_thread = processes and workers > 1, threads
        self._inline = make_sampler() if workers == 1 else None
        self._settings = single_threaded_torch()

    def __enter__(self) -> Self:
        self._settings.__enter__()
        try:
            if self._processes:  # before there are threads, of which a forked child would have none
                self._fork()
            if self._inline is None:
                self._start_threads()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _fork(self) -> None:
        try:
            for _ in range(self.workers):
                self._children.append(ProcessSampler(self._make))
        except (OSError, AssertionError, ValueError) as error:  # no memory, inside a daemon, no such system
            how = "workers are threads" if self._may_thread else "one worker does it all"
            _log.warning("cannot start worker processes (%s); %s", error, how)
            self._close_children()
            if not self._may_thread:
                self.workers, self._inline = 1, self._make()

    def _start_threads(self) -> None:
        for number in range(self.workers):
            child = self._children[number] if self._children else None
            thread = threading.Thread(
                target=self._work, args=(child,), name=f"smoothcert-{number}", daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def _close_children(self) -> None:
        while self._children:
            self._children.pop().close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with contextlib.suppress(queue.Empty):  # after an error, do not work off what nobody waits for
                while True:
                    self._jobs.get_nowait()
            for _ in self._threads:
                self._jobs.put(None)
            for thread in self._threads:
                thread.join()
        finally:
            self._close_children()
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

    def _work(self, child: ProcessSampler | None) -> None:
        torch.set_num_threads(1)  # the setting is kept per thread
        try:
            sampler = child or self._make()
        except BaseException as error:
            self._done.put(error)
            return
        while (job := self._jobs.get()) is not None:
            self._run(sampler, job)

    def _run(self, sampler: Sampler | ProcessSampler, job: tuple[Sequence[Any], Sequence[Chunk]]) -> None:
        tags, chunks = job
        try:
            self._done.put(list(zip(tags, sampler.draw(chunks), strict=True)))
        except BaseException as error:
            self._done.put(error)
