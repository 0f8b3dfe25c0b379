"""Notes what the driver of a run is busy with, from outside: around its pool."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from typing_extensions import override

from benchmarks.simulation.measuring.notes import Notes, Turn
from smoothcert.execution import Execution
from smoothcert.sampling import Chunk, ChunkVotes, ImageFault, Pool, VoteSource


class TimedPool:
    """A pool that notes when it is called; everything else is its inner pool's.

    Args:
        inner: who draws.
        workers: how many there have to be before the first job.
        notes: are written to.
    """

    def __init__(self, inner: Pool, workers: int, notes: Notes) -> None:
        self._inner, self._wanted, self._notes = inner, workers, notes
        self._seen: set[int] = set()  # images
        self._turn, self._mark = Turn(), 0.0
        self._undecided: list[Any] = []  # of the answer that is being thought about

    def __enter__(self) -> Self:
        inner: Any = self._inner.__enter__()
        while inner.workers < self._wanted:  # a pool of Ray works as soon as it has one
            inner.look_after()
        self._mark = self._start = time.perf_counter()
        self._processor = time.process_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_turn()
        self._notes.seconds = time.perf_counter() - self._start
        self._notes.processor = time.process_time() - self._processor
        self._inner.__exit__(kind, error, trace)

    outstanding = property(lambda self: self._inner.outstanding)
    workers = property(lambda self: self._inner.workers)
    lost = property(lambda self: self._inner.lost)
    job_scale = property(lambda self: self._inner.job_scale)
    note = property(lambda self: self._inner.note)

    def submit(self, tags: Sequence[Any], chunks: Sequence[Chunk]) -> None:
        """Hand in one batch."""
        begin = time.perf_counter()
        self._turn.thinking += begin - self._mark
        self._inner.submit(tags, chunks)
        self._mark = time.perf_counter()
        self._turn.sent.append((len(chunks), self._mark - begin))
        new = {chunk.index for chunk in chunks} - self._seen
        self._turn.opened += len(new)
        self._seen |= new
        self._mark = time.perf_counter()

    def collect(self) -> list[tuple[Any, ChunkVotes | ImageFault]]:
        """Wait for one batch."""
        self._end_turn()
        begin = time.thread_time()
        results = self._inner.collect()
        self._turn = Turn(fetching=time.thread_time() - begin, taken=len(results))
        self._undecided = [sampling for (sampling, _), _ in results if not sampling.decided]
        for (_, chunk), votes in results:
            self._notes.votes += chunk.votes
            self._notes.worked += votes.seconds if isinstance(votes, ChunkVotes) else 0.0
        self._mark = time.perf_counter()
        return results

    def _end_turn(self) -> None:
        self._turn.thinking += time.perf_counter() - self._mark
        self._turn.written = len({id(sampling) for sampling in self._undecided if sampling.decided})
        self._notes.turns.append(self._turn)


class TimedExecution(Execution):
    """An execution whose runs leave notes, one each.

    Args:
        inner: where votes are drawn.
        workers: how many it has.
    """

    def __init__(self, inner: Execution, workers: int) -> None:
        self.inner, self.workers = inner, workers
        self.notes: list[Notes] = []

    @override
    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.inner.__exit__(kind, error, trace)

    @override
    def pool(self, source: VoteSource, batch_size: int) -> Pool:
        self.notes.append(Notes())
        return TimedPool(self.inner.pool(source, batch_size), self.workers, self.notes[-1])
