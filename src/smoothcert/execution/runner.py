"""Many images -> certificates, handed on as they are decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import torch

from smoothcert.certificates import Certificate, Certification, check_batch_size
from smoothcert.progress import Progress, progress
from smoothcert.sampling import Journey, default_workers, travel

SAVE_SECONDS = 20.0
"""Partial counts are handed on at least this often (the promise is 30 seconds; a batch may take a while)."""


class ImageSource(Protocol):
    """Gives images by index; a `Dataset` is one."""

    def image(self, index: int) -> torch.Tensor:
        """Return one image."""
        ...


class Sink(Protocol):
    """Takes what the runner brings; called in one thread."""

    def finished(self, certificates: Sequence[Certificate]) -> None:
        """Take the certificates of one decided image, one per classifier."""
        ...

    def unfinished(self, states: Mapping[int, dict[str, Any]]) -> None:
        """Take the state of the images under way, by index, to continue from after a crash."""
        ...


def certify_images(
    certification: Certification,
    source: ImageSource,
    indices: Sequence[int],
    sink: Sink,
    *,
    workers: int,
    batch_size: int,
    saved: Callable[[int], Any],
    show: Progress,
) -> None:
    """Certify the images at `indices`, several at a time, in the order they are decided.

    Args:
        certification: what to do with each image.
        source: where images come from; each is read when its turn comes.
        indices: images to certify.
        sink: takes certificates and partial states.
        workers: threads.
        batch_size: rows per forward pass.
        saved: returns the state of an image that was under way when an earlier run stopped, as it is stored, or None.
        show: told about progress.
    """

    def journeys() -> Iterator[Journey]:
        for index in indices:
            yield certification.journey(index, source.image(index), saved(index))

    last_save = time.monotonic()
    done = votes = 0

    def on_batch(under_way: list[Journey]) -> None:
        nonlocal last_save
        show(done, f"{votes + sum(j.votes_counted for j in under_way):,} votes")
        if time.monotonic() - last_save >= SAVE_SECONDS:
            states = {j.index: certification.save(j) for j in under_way if j.votes_counted}
            sink.unfinished({index: state for index, state in states.items() if state is not None})
            last_save = time.monotonic()

    with certification.pool(workers, batch_size) as pool:
        for journey in travel(journeys(), pool, batch_size=batch_size, on_batch=on_batch):
            sink.finished(certification.certificates(journey))
            done, votes = done + 1, votes + journey.votes_counted
            show(done, f"{votes:,} votes")


class _Collected:
    """A sink that keeps certificates of one classifier in memory."""

    def __init__(self) -> None:
        self.certificates: list[Certificate] = []

    def finished(self, certificates: Sequence[Certificate]) -> None:
        self.certificates += certificates

    def unfinished(self, states: Mapping[int, dict[str, Any]]) -> None:
        pass


def certify_in_memory(certification: Certification, source: ImageSource) -> list[Certificate]:
    """Certify the first images of a source, as many as the certification is about, and keep nothing on disk."""
    collected = _Collected()
    example = source.image(0)
    rows = check_batch_size(None, example, certification.engine)
    certification.check({0: example}, batch_size=rows)
    with progress("certifying", certification.images, shown=False) as show:
        certify_images(
            certification,
            source,
            range(certification.images),
            collected,
            workers=default_workers(),
            batch_size=rows,
            saved=lambda index: None,
            show=show,
        )
    return sorted(collected.certificates, key=lambda certificate: certificate.index)
