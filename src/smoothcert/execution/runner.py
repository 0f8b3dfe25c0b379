"""Many images -> certificates, handed on as they are decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import torch

from smoothcert.arguments import usable_cores
from smoothcert.certificates import Certificate, Certification, Plan
from smoothcert.execution.time_left import TimeLeft
from smoothcert.progress import Progress, progress
from smoothcert.sampling import Pool, Sampling, check_batch_size

SAVE_SECONDS = 20.0
"""Partial counts are handed on at least this often (the promise is 30 seconds; a batch may take a while)."""
_SHOW_SECONDS = 0.5  # between two looks at what is under way


class ImageSource(Protocol):
    """Gives images by index; a `Dataset` is one."""

    def image(self, index: int) -> torch.Tensor:
        """Return one image."""
        ...


class SamplingOfImage(Sampling, Protocol):
    """The votes of one image under way."""

    @property
    def index(self) -> int:
        """The image's place in the keyed stream."""
        ...

    @property
    def votes_counted(self) -> int:
        """Votes counted so far."""
        ...

    @property
    def leading(self) -> int:
        """Those of them that are for the leading class."""
        ...


Under = TypeVar("Under", bound=SamplingOfImage)
Product = TypeVar("Product")
Taken = TypeVar("Taken", contravariant=True)
Made = TypeVar("Made", covariant=True)


class Certifies(Protocol[Under, Made]):
    """What is done with each image: a `Certification`, or that of a panel."""

    @property
    def plan(self) -> Plan:
        """The procedure, bound to noise and alpha."""
        ...

    def sampling(self, index: int, image: torch.Tensor, saved: Any = None) -> Under:
        """Return an image's sampling from the start, or from where `save` left it."""
        ...

    def save(self, sampling: Under) -> Any:
        """Return an unfinished sampling as plain values; None if it cannot be."""
        ...

    def conclude(self, sampling: Under) -> Made:
        """Return what a decided sampling proves."""
        ...

    def draw(
        self,
        samplings: Iterable[Under],
        pool: Pool,
        *,
        batch_size: int,
        on_decided: Callable[[Under], None],
        on_batch: Callable[[list[Under]], None],
        every: float,
    ) -> None:
        """Draw what samplings ask for until all are decided."""
        ...


class Sink(Protocol[Taken]):
    """Takes what the runner brings; called in one thread."""

    def finished(self, certificate: Taken) -> None:
        """Take the certificate of one decided image, or those of a panel."""
        ...

    def unfinished(self, states: Mapping[int, Any]) -> None:
        """Take the state of the images under way, by index, to continue from after a crash."""
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
) -> None:
    """Certify the images at `indices`, several at a time, in the order they are decided.

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
    """

    last_save, left = time.monotonic(), TimeLeft(certification.plan, len(indices))
    done = votes = restored = 0

    def sampling_of(index: int) -> Under:
        nonlocal restored
        state = None if saved is None else saved(index)
        begun = certification.sampling(index, source.image(index), state)
        restored += begun.votes_counted
        return begun

    def on_decided(sampling: Under) -> None:
        nonlocal done, votes
        sink.finished(certification.conclude(sampling))
        done, votes = done + 1, votes + sampling.votes_counted
        left.decided(sampling.votes_counted)

    def on_batch(under_way: list[Under]) -> None:
        nonlocal last_save
        counted = votes + sum(one.votes_counted for one in under_way)
        left.drawn(counted - restored)
        show(
            done,
            ", ".join(filter(None, (f"{counted:,} votes", pool.note))),
            lambda: left.seconds([(one.leading, one.votes_counted) for one in under_way]),
        )
        if time.monotonic() - last_save >= SAVE_SECONDS:
            states = {one.index: certification.save(one) for one in under_way if one.votes_counted}
            sink.unfinished({index: state for index, state in states.items() if state is not None})
            last_save = time.monotonic()

    certification.draw(
        map(sampling_of, indices),
        pool,
        batch_size=batch_size,
        on_decided=on_decided,
        on_batch=on_batch,
        every=min(SAVE_SECONDS, _SHOW_SECONDS),
    )


class _Collected:
    """A sink that keeps certificates of one classifier in memory."""

    def __init__(self) -> None:
        self.certificates: list[Certificate] = []

    def finished(self, certificate: Certificate) -> None:
        self.certificates.append(certificate)

    def unfinished(self, states: Mapping[int, Any]) -> None:
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
