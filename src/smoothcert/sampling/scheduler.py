"""Mixes the chunks of many undecided images into full batches, because most images need few votes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from smoothcert.sampling.journey import Journey
from smoothcert.sampling.pool import WorkerPool
from smoothcert.sampling.sampler import Chunk
from smoothcert.sampling.schedule import CHUNK_VOTES


def travel(
    journeys: Iterable[Journey],
    pool: WorkerPool,
    *,
    batch_size: int,
    on_batch: Callable[[list[Journey]], None] | None = None,
) -> Iterator[Journey]:
    """Yield journeys as they are decided, in the order they end.

    Earlier images go first and new ones are opened only to fill a batch, so few are open at a time. Which
    votes an image sees never depends on this function.

    Args:
        journeys: the images' journeys, opened lazily; all images of one shape.
        pool: an entered pool of workers.
        batch_size: rows per batch aimed at.
        on_batch: called after every batch with the journeys still open.
    """
    waiting, open_now = iter(journeys), list[Journey]()
    most = max(1, batch_size // CHUNK_VOTES)
    while True:
        # One batch per worker under way and one queued, so that no worker waits for this thread.
        while pool.outstanding < 2 * pool.workers:
            batch = _next_batch(waiting, open_now, most)
            if not batch:
                break
            pool.submit(batch, [chunk for _, chunk in batch])
            if len(batch) < most and pool.outstanding >= pool.workers:
                break  # a short batch means nothing more to issue: let results come back first
        if pool.outstanding == 0:
            return
        for (journey, chunk), votes in pool.collect():
            before = journey.decided
            journey.take(chunk, votes)
            if journey.decided and not before:
                open_now.remove(journey)
                yield journey
        if on_batch is not None:
            on_batch(open_now)


def _next_batch(
    waiting: Iterator[Journey], open_now: list[Journey], most: int
) -> list[tuple[Journey, Chunk]]:
    """Gather up to `most` chunks, from the oldest open journey on, opening new ones as needed."""
    batch: list[tuple[Journey, Chunk]] = []
    for journey in _open_then_new(waiting, open_now):
        while len(batch) < most and (chunk := journey.next_chunk()) is not None:
            batch.append((journey, chunk))
        if len(batch) == most:
            break
    return batch


def _open_then_new(waiting: Iterator[Journey], open_now: list[Journey]) -> Iterator[Journey]:
    yield from list(open_now)
    for journey in waiting:
        open_now.append(journey)
        yield journey
