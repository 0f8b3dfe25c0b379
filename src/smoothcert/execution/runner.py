"""Many images -> certificates, handed on as they are decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol

import torch

from smoothcert.arguments import usable_cores
from smoothcert.certificates import Certificate, Certification
from smoothcert.execution.certifies import Certifies, Product, Under
from smoothcert.execution.heartbeat import Heartbeat
from smoothcert.execution.limit import Limit
from smoothcert.execution.sink import Sink
from smoothcert.execution.time_left import TimeLeft
from smoothcert.progress import Progress, progress
from smoothcert.sampling import ImageFault, Pool, StopDrawing, check_batch_size

SAVE_SECONDS = 20.0
"""Partial counts are handed on at least this often (the promise is 30 seconds; a batch may take a while)."""
_SHOW_SECONDS = 0.5  # between two looks at what is under way
_BEAT_SECONDS = 2.0  # between two heartbeats


class ImageSource(Protocol):
    """Gives images by index; a `Dataset` is one."""

    def image(self, index: int) -> torch.Tensor:
        """Return one image."""
        ...


def certify_images(
    certification: Certifies[Under, Product],
    source: ImageSource,
    indices: Sequence[int],
    sink: Sink[Product],
    *,
    pool: Pool,
    batch_size: int,
    saved: Callable[[int], Any] | None = None,
    show: Progress,
    limit: Limit | None = None,
) -> bool:
    """Certify the images at `indices`, several at a time, in the order they are decided.

    Stopped by its limit or by Ctrl-C, it hands on the votes of the images under way before it ends.

    Args:
        certification: what to do with each image.
        source: where images come from; each is read when its turn comes.
        indices: images to certify.
        sink: takes certificates and partial states.
        pool: who draws, not entered yet (`Execution.pool`).
        batch_size: rows per forward pass.
        saved: returns the state of an image that was under way when an earlier run stopped, as it is stored, or None;
            left out where there are none.
        show: told about progress.
        limit: when to stop before the end.

    Returns:
        whether the limit was reached before the end.
    """
    course = _Course(certification, sink, len(indices), pool, show, limit or Limit())

    def sampling_of(index: int) -> Under:
        state = None if saved is None else saved(index)
        return course.begun(certification.sampling(index, source.image(index), state))

    try:
        certification.draw(
            map(sampling_of, indices),
            pool,
            batch_size=batch_size,
            on_decided=course.decided,
            on_failed=course.failed,
            on_batch=course.after_batch,
            every=0.0 if limit is not None and limit.is_set else min(SAVE_SECONDS, _SHOW_SECONDS),
        )
    except KeyboardInterrupt:
        course.save()
        raise
    if course.stopped:
        course.save()
    return course.stopped


class _Course(Generic[Under, Product]):
    """What a run has done since it started: hands on what is decided, and keeps count.

    Args:
        certification: what is done with each image.
        sink: takes what comes of it.
        images: how many there are.
        pool: who draws.
        show: told about progress.
        limit: when to stop.
    """

    def __init__(
        self,
        certification: Certifies[Under, Product],
        sink: Sink[Product],
        images: int,
        pool: Pool,
        show: Progress,
        limit: Limit,
    ) -> None:
        self.certification, self.sink, self.show, self.limit = certification, sink, show, limit
        self.pool, self.left = pool, TimeLeft(certification.plan, images)
        self.stopped = False
        self._begin = self._last_save = self._last_beat = time.monotonic()
        self._ended = self._votes = self._restored = 0
        self._open: dict[int, Under] = {}
        self._beat(workers=0, lost=0)  # the pool is not entered yet, which may take a while

    def begun(self, sampling: Under) -> Under:
        """Take an image whose turn has come."""
        self._restored += sampling.votes_counted
        self._open[sampling.index] = sampling
        return sampling

    def decided(self, sampling: Under) -> None:
        """Hand on an image that is decided."""
        self.sink.finished(self.certification.conclude(sampling))
        self._end(sampling)

    def failed(self, sampling: Under) -> None:
        """Hand on why an image has no certificate."""
        assert sampling.fault is not None
        self.sink.failed(sampling.index, sampling.fault)
        self._end(sampling)

    def _end(self, sampling: Under) -> None:
        del self._open[sampling.index]
        self._ended, self._votes = self._ended + 1, self._votes + sampling.votes_counted
        self.left.decided(sampling.votes_counted)

    @property
    def _drawn(self) -> int:
        """Votes since the start; those that were restored are none."""
        return self._votes + sum(one.votes_counted for one in self._open.values()) - self._restored

    def after_batch(self, under_way: list[Under]) -> None:
        """Show, save, and stop where it is time to."""
        drawn, now = self._drawn, time.monotonic()
        self.left.drawn(drawn)
        told = filter(None, (f"{drawn + self._restored:,} votes", self.pool.note))
        self.show(self._ended, ", ".join(told), self._seconds_left)
        if now - self._last_save >= SAVE_SECONDS:
            self.save()
        if now - self._last_beat >= _BEAT_SECONDS:
            self._beat(self.pool.workers, self.pool.lost)
        if self.limit.is_reached(drawn, now - self._begin):
            self.stopped = True
            raise StopDrawing

    def save(self) -> None:
        """Hand on the votes of the images under way."""
        counted = [one for one in self._open.values() if one.votes_counted]
        states = {one.index: self.certification.save(one) for one in counted}
        self.sink.unfinished({index: state for index, state in states.items() if state is not None})
        self._last_save = time.monotonic()

    def _seconds_left(self) -> float | None:
        return self.left.seconds([(one.leading, one.votes_counted) for one in self._open.values()])

    def _beat(self, workers: int, lost: int) -> None:
        self._last_beat = time.monotonic()
        self.sink.beat(
            Heartbeat(
                decided=self._ended,
                under_way=len(self._open),
                votes=self._drawn,
                seconds=self._last_beat - self._begin,
                votes_per_second=self.left.votes_per_second,
                seconds_left=self._seconds_left() if self._open else None,
                workers=workers,
                workers_lost=lost,
            )
        )


class _Collected:
    """A sink that keeps certificates of one classifier in memory."""

    def __init__(self) -> None:
        self.certificates: list[Certificate] = []

    def finished(self, certificate: Certificate) -> None:
        self.certificates.append(certificate)

    def unfinished(self, states: Mapping[int, Any]) -> None:
        pass

    def failed(self, index: int, fault: ImageFault) -> None:
        raise fault.error

    def beat(self, heartbeat: Heartbeat) -> None:
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
            pool=certification.workers_here(usable_cores(), rows),
            batch_size=rows,
            show=show,
        )
    return sorted(collected.certificates, key=lambda certificate: certificate.index)
