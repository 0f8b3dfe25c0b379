"""Votes drawn again from their keys and compared, one by one, with the stored ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.certificates import Certification
from smoothcert.data import Dataset
from smoothcert.execution import Execution
from smoothcert.progress import Progress
from smoothcert.sampling import CHUNK_VOTES, Chunk, ChunkVotes, ImageFault
from smoothcert.workflows.auditing.report import AuditReport
from smoothcert.workflows.auditing.stored import Stream

ROUNDING_GAP = 1e-4
"""Two logits nearer than this may change places on another processor or engine; a vote between others may not."""
LEAST_CHUNKS = 256
"""Chunks re-drawn by default, if the run has so many: seconds of work."""
_DEFAULT_FRACTION = 0.01
_MOST_ROUNDING = 5e-4  # share of re-drawn votes that rounding may explain: it is near 1e-5 for real networks
_LARGE = 0.04  # times 1e-4: 32 steps of a float32


@dataclass(frozen=True)
class Place:
    """Where a chunk belongs: image, phase, number of the chunk, and the stored classes of its votes."""

    index: int
    phase: str
    number: int
    classes: NDArray[np.unsignedinteger]


def by_rounding(votes: int) -> int:
    """Return how many of some re-drawn votes may differ by rounding at most."""
    return 1 + int(_MOST_ROUNDING * votes)


def choose(streams: Sequence[Stream], num_classes: int, fraction: float | None, seed: int) -> list[Place]:
    """Choose chunks at random, by a seed that whoever made the run could not know.

    Args:
        streams: where the chunks are.
        num_classes: the manifest's number of classes.
        fraction: share of them, at least one chunk unless it is 0; None: one in a hundred, at least `LEAST_CHUNKS`.
        seed: of the choice.
    """
    ends = np.cumsum([stream.chunks for stream in streams])
    total = int(ends[-1])
    least = max(LEAST_CHUNKS, math.ceil(_DEFAULT_FRACTION * total))
    wanted = min(total, least if fraction is None else math.ceil(fraction * total))
    chosen = np.sort(np.random.default_rng(seed).choice(total, size=wanted, replace=False))
    places: list[Place] = []
    for stream, end in zip(streams, ends, strict=True):
        numbers = chosen[np.searchsorted(chosen, end - stream.chunks) : np.searchsorted(chosen, end)]
        if len(numbers):
            places += _places(stream, num_classes, (numbers - (end - stream.chunks)).tolist())
    return places


def _places(stream: Stream, num_classes: int, numbers: Sequence[int]) -> Iterator[Place]:
    """Yield some chunks of a stream with their stored votes."""
    cast = stream.cast(num_classes)
    for number in numbers:
        part = cast[number * CHUNK_VOTES : (number + 1) * CHUNK_VOTES].copy()  # of all others nothing is kept
        yield Place(stream.image.index, stream.phase, number, part)


TakeChunk = Callable[[Place, Chunk, NDArray[np.unsignedinteger], int], None]
"""Takes a place with its chunk, the classes of its re-drawn votes and their evaluations."""


class ChunksAgain:
    """Chosen chunks of one image, drawn once more; decided when all are there.

    Args:
        image: the clean image.
        places: the chunks, all of this image.
        take: handed each as it is drawn; none is kept.
    """

    def __init__(self, image: torch.Tensor, places: Sequence[Place], take: TakeChunk) -> None:
        self._image, self._take = image, take
        self._issued = iter(places)
        self._place = {(place.phase, place.number): place for place in places}

    @property
    def decided(self) -> bool:
        """Whether every chunk has been drawn again."""
        return not self._place

    def next_chunk(self) -> Chunk | None:
        """Return the next chunk to draw; None if all are under way."""
        place = next(self._issued, None)
        if place is None:
            return None
        return Chunk(self._image, place.index, place.phase, place.number, len(place.classes))

    @property
    def fault(self) -> None:
        """Never one: what cannot be drawn again ends the audit."""
        return

    def take_fault(self, chunk: Chunk, fault: ImageFault) -> None:
        """Raise the error: votes are stored, so the model has answered this chunk before."""
        raise fault.error

    def take(self, chunk: Chunk, votes: ChunkVotes) -> None:
        """Hand on the votes of a chunk that came back."""
        assert votes.classes is not None  # a sampler of our own always says them
        place = self._place.pop((chunk.phase, chunk.number))
        self._take(place, chunk, votes.classes[0], int(votes.evaluations[0]))


def redraw(
    certification: Certification,
    dataset: Dataset,
    places: Sequence[Place],
    take: TakeChunk,
    *,
    execution: Execution,
    batch_size: int,
    show: Progress,
) -> None:
    """Draw chunks again and hand each on, in any order.

    Args:
        certification: what drew them once.
        dataset: where the images come from.
        places: the chunks, image by image.
        take: handed each.
        execution: where they are drawn.
        batch_size: rows per forward pass.
        show: told about progress.
    """
    done = 0

    def counted(place: Place, chunk: Chunk, classes: NDArray[np.unsignedinteger], evaluations: int) -> None:
        nonlocal done
        take(place, chunk, classes, evaluations)
        done += 1

    def images() -> Iterator[ChunksAgain]:
        for index, own in groupby(places, key=lambda place: place.index):
            yield ChunksAgain(dataset.image(index), list(own), counted)

    pool = execution.pool(certification, batch_size)

    def on_batch(under_way: list[ChunksAgain]) -> None:
        show(done, ", ".join(filter(None, (f"{done * CHUNK_VOTES:,} votes", pool.note))))

    certification.draw(images(), pool, batch_size=batch_size, on_batch=on_batch)


class Comparison:
    """Compares re-drawn votes with stored ones and says of each difference where it can come from.

    Args:
        certification: what drew the votes.
        report: told about differences.
    """

    def __init__(self, certification: Certification, report: AuditReport) -> None:
        self.engine, self.report = certification.engine, report
        self._sampler = certification.sampler(CHUNK_VOTES)
        self._changed: defaultdict[int, list[float]] = defaultdict(list)
        self._rounded: defaultdict[int, int] = defaultdict(int)
        self._votes: defaultdict[int, int] = defaultdict(int)

    def take(self, place: Place, chunk: Chunk, classes: NDArray[np.unsignedinteger]) -> None:
        """Take one chunk that was drawn again."""
        self.report.redrawn = (self.report.redrawn or 0) + len(classes)
        self.report.chunks += 1
        self._votes[place.index] += len(classes)
        differing = np.flatnonzero(classes != place.classes)
        if differing.size:
            gaps = self.gaps(chunk, place.classes)[differing]
            self._rounded[place.index] += int((gaps < ROUNDING_GAP).sum())
            self._changed[place.index] += gaps[gaps >= ROUNDING_GAP].tolist()

    def logits(self, chunk: Chunk) -> NDArray[np.float64]:
        """Return the logits of a chunk's votes, (votes, classes)."""
        noisy = self._sampler.noisy_images([chunk])
        logits: NDArray[np.float64] = self.engine(noisy)[:, 0].detach().cpu().double().numpy()
        return logits

    def gaps(self, chunk: Chunk, classes: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Return by how much the best logit of each vote exceeds that of a class; infinite where there is none.

        In the units of `units`.
        """
        logits = self.logits(chunk)
        known = np.minimum(classes.astype(np.int64), logits.shape[1] - 1)
        lost = ~np.isfinite(logits).all(axis=1) | (classes >= logits.shape[1])
        logits = np.where(lost[:, None], 0.0, logits)
        best, stored = logits.max(axis=1), logits[np.arange(len(logits)), known]
        return np.where(lost, np.inf, (best - stored) / units(best, stored))

    def conclude(self) -> None:
        """Report what rounding cannot explain, in one image or in all together."""
        self.report.arithmetic += sum(self._rounded.values())
        for index, rounded in sorted(self._rounded.items()):
            if rounded > by_rounding(self._votes[index]):
                self._too_many(rounded, self._votes[index], index)
        for index, gaps in sorted(self._changed.items()):
            if gaps:
                least = (
                    "votes without an answer" if math.isinf(min(gaps)) else f"logit gaps from {min(gaps):.2g}"
                )
                self.report.add_finding(
                    "votes", f"{len(gaps):,} re-drawn votes differ from the stored ones ({least} up)", index
                )
        votes = self.report.redrawn or 0
        if self.report.arithmetic > by_rounding(votes):
            self._too_many(self.report.arithmetic, votes, None)

    def _too_many(self, rounded: int, votes: int, index: int | None) -> None:
        self.report.add_finding(
            "arithmetic",
            f"{rounded:,} of {votes:,} re-drawn votes differ at logits nearer than {ROUNDING_GAP:g}: too many for "
            "rounding, or a model whose logits are too close to check",
            index,
        )


def units(best: NDArray[np.float64], stored: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the units in which gaps between two logits of each row are judged: 1, or less if all best are smaller.

    A model whose logits are all tiny rounds them no worse. Where one of the two is beyond 25 it is what float32
    resolves of it: 32 of its steps are as much as 1e-4 there. What other classes have says nothing about rounding: one
    that is ruled out by a logit of -1e9 would make room for anything.

    Args:
        best: the largest logit of each row.
        stored: the logit of the class that is stored.
    """
    usual = np.abs(best).max(initial=0.0)
    resolved = _LARGE * np.maximum(np.abs(best), np.abs(stored))
    unit = np.maximum(min(usual, 1.0), resolved)
    return np.where(unit > 0, unit, 1.0)
