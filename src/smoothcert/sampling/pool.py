"""Workers: one single-threaded sampler per core.

Threads, because torch and the noise release the interpreter lock in their kernels; each with a process of its own
for a classifier with code of the user's own. One thread per worker, because a many-threaded forward pass collapses as
soon as another program wants a core.
"""

from __future__ import annotations

import contextlib
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

import torch

from smoothcert.arguments import is_whole, usable_cores
from smoothcert.engines import single_threaded_torch
from smoothcert.errors import InvalidArgumentError, WorkerError
from smoothcert.networks import MIN_ROWS
from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.control import Control
from smoothcert.sampling.one_by_one import ImageFault, OneByOne
from smoothcert.sampling.process_sampler import ProcessSampler, can_fork
from smoothcert.sampling.sampler import Sampler
from smoothcert.visible import brief

MOST_WORKERS = 1_024
"""Each is a thread with a buffer of its own, and maybe a process; more than cores gain nothing."""

_GRACE_SECONDS = 5.0  # after Ctrl-C, for what children are at
WORTH_SECONDS = 4.0
"""Work of one worker from which starting processes is won back."""

_log = logging.getLogger("smoothcert")


def check_workers(workers: int | None) -> int:
    """Return `workers` if it is an integer from 1 to 1,024, or one per core for None."""
    if workers is None:
        return min(usable_cores(), MOST_WORKERS)
    if not is_whole(workers, 1, MOST_WORKERS):
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
        make_sampler: makes one worker's sampler; asked before there are threads and, where processes do the work, in
            each of them.
        workers: number of threads; 1 works in the calling thread.
        votes_planned: how many there may be. A classifier that threads must not share gets a process for each worker
            where that many are worth it, and else one worker.
    """

    job_scale: ClassVar[int] = 1
    lost: ClassVar[int] = 0
    note: ClassVar[str] = ""

    def __init__(
        self, make_sampler: Callable[[], Sampler], workers: int, *, votes_planned: float = math.inf
    ) -> None:
        self.workers = workers
        self._planned = votes_planned
        self.outstanding = 0
        self._make = make_sampler
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._children: list[ProcessSampler] = []
        self._inline: OneByOne | None = None
        self._example = torch.empty(0)  # an image that the model answers
        self._control: Control | None = None
        self._settings = single_threaded_torch()

    def __enter__(self) -> Self:
        self._settings.__enter__()
        try:
            first = self._make()
            self._example = first.engine.example
            if not first.engine.shareable:
                self._control = Control.ask(first, first.engine.example)
                self._fork(first)  # before there are threads, of which a forked child would have none
            if self.workers == 1:
                self._inline = OneByOne(first, self._example)
            else:
                self._start_threads()
        except BaseException:
            self._close()
            raise
        return self

    def _fork(self, first: Sampler) -> None:
        """Start a child for each of several workers where that is worth it and possible; else leave one worker."""
        assert self._control is not None
        engine = first.engine
        worth = self._planned * self._control.seconds_per_vote >= WORTH_SECONDS
        if self.workers == 1 or not worth or not engine.may_fork:
            self.workers = 1
            return
        try:
            if not can_fork():
                raise OSError("they cannot be forked on this system or device")
            # A whole batch: code may hand a large one to threads, of which a child has none, and a small one not.
            self._control = Control.ask(first, engine.example, max(first.batch_size, MIN_ROWS))
            for _ in range(self.workers):
                self._children.append(ProcessSampler(self._make))
            if not all(map(self._control.holds_in, self._children)):
                raise OSError("it does not answer there as it does here")
            _log.info("the model has code of your own, which threads do not share; workers are processes")
        except (OSError, AssertionError, ValueError) as error:  # no memory, inside a daemon
            _log.warning(
                "the model has code of your own, which threads do not share, nor can processes ask it (%s); one worker "
                "does",
                error,
            )
            self._close_children()
            engine.may_fork, self.workers = False, 1

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
            # Also after Ctrl-C, when what was finished is kept.
            if kind is None or issubclass(kind, KeyboardInterrupt):
                self._stop_threads(_GRACE_SECONDS)
                self._ask_again()
        finally:
            self._close()

    def _ask_again(self) -> None:
        if self._control is not None:
            for worker in self._children if self._inline is None else [self._inline.sampler]:
                with contextlib.suppress(WorkerError):  # it is gone: what it said before has been checked
                    self._control.refuse_change(worker)

    def _stop_threads(self, patience: float) -> None:
        """Let threads end what they are at; end the children of those that still wait for one."""
        with contextlib.suppress(queue.Empty):  # after an error, do not work off what nobody waits for
            while True:
                self._jobs.get_nowait()
        for _ in self._threads:
            self._jobs.put(None)
        until = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0) if self._children else None)
        if any(thread.is_alive() for thread in self._threads):
            for child in self._children:
                child.kill()
        while self._threads:
            self._threads.pop().join()

    def _close(self) -> None:
        try:
            self._stop_threads(0.0)
        finally:
            self._close_children()
            self._settings.__exit__(None, None, None)

    def submit(self, tags: Sequence[Any], chunks: Sequence[Chunk]) -> None:
        """Hand in one batch; `tags` come back beside the votes of their chunks."""
        self.outstanding += 1
        self._jobs.put((tags, chunks))

    def collect(self) -> list[tuple[Any, ChunkVotes | ImageFault]]:
        """Wait for one batch and return its (tag, votes) pairs, a fault for what an image is to blame for.

        Raises what a worker raised that is no image's fault.
        """
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
            sampler = OneByOne(child or self._make(), self._example)
        except BaseException as error:
            self._done.put(error)
            return
        while (job := self._jobs.get()) is not None:
            self._run(sampler, job)

    def _run(self, sampler: OneByOne, job: tuple[Sequence[Any], Sequence[Chunk]]) -> None:
        tags, chunks = job
        try:
            self._done.put(list(zip(tags, sampler.draw(chunks), strict=True)))
        except BaseException as error:
            self._done.put(error)
