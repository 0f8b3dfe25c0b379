"""Mixes the chunks of many undecided images into full batches, because most images need few votes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from smoothcert.sampling.any_pool import Pool
from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.one_by_one import ImageFault
from smoothcert.sampling.phases import CHUNK_VOTES

JOB_SECONDS = 0.05
"""A worker is given about this much to do at a time: long against the cost of handing it over, short to wait for."""
_MOST_BATCHES = 16
_QUEUED = 2  # jobs per worker: one under way, one ready, so that no worker waits for this thread


class StopDrawing(Exception):  # noqa: N818 - like StopIteration, it is no error
    """Raised by whoever is told about a batch, to end in good order before all is decided. Not an error."""


class Sampling(Protocol):
    """What chunks are drawn for: an image under one classifier, or under a panel of them."""

    @property
    def decided(self) -> bool:
        """Whether no further votes are needed."""
        ...

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk to draw, or None if what is under way has to come back first."""
        ...

    @property
    def fault(self) -> ImageFault | None:
        """Why it cannot be decided; None while it may."""
        ...

    def take(self, chunk: Chunk, votes: ChunkVotes) -> None:
        """Take the votes of a chunk that came back."""
        ...

    def take_fault(self, chunk: Chunk, fault: ImageFault) -> None:
        """Take the fault of a chunk that has no votes; raise its error to end everything."""
        ...


Drawn = TypeVar("Drawn", bound=Sampling)


def run_schedule(
    samplings: Iterable[Drawn],
    pool: Pool,
    *,
    batch_size: int,
    on_batch: Callable[[list[Drawn]], None] | None = None,
    every: float = 0.0,
    turns: bool = False,
) -> Iterator[Drawn]:
    """Yield samplings as they are decided, or found to be at fault, in the order they end.

    Earlier images go first and new ones are opened only to keep the workers busy, so few are open at a time.
    Which votes an image sees never depends on this function, nor on the clock it reads; how many are drawn in vain
    is bounded by the samplings (`LOOKAHEAD`), because only what they issue is ever drawn.

    Args:
        samplings: the images' samplings, opened lazily; all images of one shape.
        pool: an entered pool of workers.
        batch_size: rows per batch aimed at.
        on_batch: called after a job with the samplings still open; may raise `StopDrawing`.
        every: seconds between two such calls, at least; 0 calls after every job.
        turns: open what there is at once and let the open ones issue chunk by chunk in turn, so that one with few votes
            never waits for one with many. `samplings` may then bring more after it brought none.
    """
    backlog = _Backlog(samplings, turns)
    batch = max(1, batch_size // CHUNK_VOTES)
    job = batch  # chunks per job, grown once a chunk's seconds are known
    last_call = time.monotonic()
    while True:
        backlog.fill(_QUEUED * pool.workers * job)
        while backlog and pool.outstanding < _QUEUED * pool.workers:
            if len(backlog) < batch and pool.outstanding >= pool.workers:
                break  # too little for a batch: let results come back first, and more be issued
            # An even share of what there is, so that the last jobs are small and end together.
            share = len(backlog) // (_QUEUED * pool.workers) // batch * batch
            pool.submit(*backlog.take(min(job, max(share, batch))))
            backlog.fill(_QUEUED * pool.workers * job)
        if pool.outstanding == 0:
            return
        seconds = 0.0
        results = pool.collect()
        for (sampling, chunk), votes in results:
            ended = _has_ended(sampling)
            if isinstance(votes, ImageFault):
                sampling.take_fault(chunk, votes)
            else:
                seconds += votes.seconds
                sampling.take(chunk, votes)
            if _has_ended(sampling) and not ended:
                backlog.drop(sampling)
                yield sampling
        if seconds > 0:  # faults alone tell nothing about what a chunk takes
            batches = pool.job_scale * JOB_SECONDS / (seconds / len(results) * batch)
            job = batch * min(max(int(batches), 1), pool.job_scale * _MOST_BATCHES)
        if on_batch is not None and time.monotonic() - last_call >= every:
            try:
                on_batch(backlog.open)
            except StopDrawing:
                return
            last_call = time.monotonic()


def _has_ended(sampling: Sampling) -> bool:
    return sampling.decided or sampling.fault is not None


class _Backlog(Generic[Drawn]):
    """Chunks that may be drawn now, from the oldest open sampling on, or in turns; opens new samplings as needed."""

    def __init__(self, samplings: Iterable[Drawn], turns: bool) -> None:
        self._turns = turns
        self.open: list[Drawn] = []
        self._waiting = iter(samplings)
        self._ready: deque[tuple[Drawn, Chunk]] = deque()

    def __len__(self) -> int:
        return len(self._ready)

    def fill(self, most: int) -> None:
        """Let samplings issue chunks until `most` are ready or nobody may issue one."""
        if len(self._ready) >= most:
            return
        if self._turns:
            self._fill_in_turns(most)
            return
        for sampling in self._open_then_new():
            while len(self._ready) < most and (chunk := sampling.next_chunk()) is not None:
                self._ready.append((sampling, chunk))
            if len(self._ready) >= most:
                return

    def _fill_in_turns(self, most: int) -> None:
        self.open += self._waiting
        idle = 0
        while len(self._ready) < most and idle < len(self.open):
            sampling = self.open.pop(0)
            self.open.append(sampling)
            chunk = sampling.next_chunk()
            if chunk is None:
                idle += 1
            else:
                idle = 0
                self._ready.append((sampling, chunk))

    def take(self, count: int) -> tuple[list[tuple[Drawn, Chunk]], list[Chunk]]:
        """Remove and return up to `count` chunks, with and without their samplings."""
        tagged = [self._ready.popleft() for _ in range(min(count, len(self._ready)))]
        return tagged, [chunk for _, chunk in tagged]

    def drop(self, decided: Drawn) -> None:
        """Forget a decided sampling and the chunks that it no longer needs."""
        self.open.remove(decided)
        self._ready = deque(entry for entry in self._ready if entry[0] is not decided)

    def _open_then_new(self) -> Iterator[Drawn]:
        yield from list(self.open)
        for sampling in self._waiting:
            self.open.append(sampling)
            yield sampling
