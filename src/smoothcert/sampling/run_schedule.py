"""Mixes the chunks of many undecided images into full batches, because most images need few votes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from smoothcert.sampling.chunk import Chunk
from smoothcert.sampling.image_sampling import Journey
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.pool import WorkerPool

JOB_SECONDS = 0.05
"""A worker is given about this much to do at a time: long against the cost of handing it over, short to wait for."""
_MOST_BATCHES = 16
_QUEUED = 2  # jobs per worker: one under way, one ready, so that no worker waits for this thread


def travel(
    journeys: Iterable[Journey],
    pool: WorkerPool,
    *,
    batch_size: int,
    on_batch: Callable[[list[Journey]], None] | None = None,
) -> Iterator[Journey]:
    """Yield journeys as they are decided, in the order they end.

    Earlier images go first and new ones are opened only to keep the workers busy, so few are open at a time.
    Which votes an image sees never depends on this function, nor on the clock it reads; how many are drawn in vain
    is bounded by the journeys (`LOOKAHEAD`), because only what they issue is ever drawn.

    Args:
        journeys: the images' journeys, opened lazily; all images of one shape.
        pool: an entered pool of workers.
        batch_size: rows per batch aimed at.
        on_batch: called after every job with the journeys still open.
    """
    backlog = _Backlog(journeys)
    batch = max(1, batch_size // CHUNK_VOTES)
    job = batch  # chunks per job, grown once a chunk's seconds are known
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
        for (journey, chunk), votes in results:
            seconds += votes.seconds
            before = journey.decided
            journey.take(chunk, votes)
            if journey.decided and not before:
                backlog.drop(journey)
                yield journey
        batches = JOB_SECONDS / max(seconds / len(results) * batch, 1e-9)
        job = batch * min(max(int(batches), 1), _MOST_BATCHES)
        if on_batch is not None:
            on_batch(backlog.open)


class _Backlog:
    """Chunks that may be drawn now, from the oldest open journey on; opens new journeys as needed."""

    def __init__(self, journeys: Iterable[Journey]) -> None:
        self.open: list[Journey] = []
        self._waiting = iter(journeys)
        self._ready: deque[tuple[Journey, Chunk]] = deque()

    def __len__(self) -> int:
        return len(self._ready)

    def fill(self, most: int) -> None:
        """Let journeys issue chunks until `most` are ready or nobody may issue one."""
        if len(self._ready) >= most:
            return
        for journey in self._open_then_new():
            while len(self._ready) < most and (chunk := journey.next_chunk()) is not None:
                self._ready.append((journey, chunk))
            if len(self._ready) >= most:
                return

    def take(self, count: int) -> tuple[list[tuple[Journey, Chunk]], list[Chunk]]:
        """Remove and return up to `count` chunks, with and without their journeys."""
        tagged = [self._ready.popleft() for _ in range(min(count, len(self._ready)))]
        return tagged, [chunk for _, chunk in tagged]

    def drop(self, decided: Journey) -> None:
        """Forget a decided journey and the chunks that it no longer needs."""
        self.open.remove(decided)
        self._ready = deque(entry for entry in self._ready if entry[0] is not decided)

    def _open_then_new(self) -> Iterator[Journey]:
        yield from list(self.open)
        for journey in self._waiting:
            self.open.append(journey)
            yield journey
