"""The vote log: every vote of a stream in its order, as bytes, so that an audit can compare vote by vote."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_VOTES = 10**8
"""Of one phase: what nobody draws for an image, and what still fits into memory."""
_LEVEL = 1  # of zlib: votes are mostly one class, and higher levels win little for much time


def vote_type(num_classes: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds every class and, as its largest value, "no class"."""
    return next(dtype for dtype in map(np.dtype, ("<u1", "<u2", "<u4")) if num_classes <= np.iinfo(dtype).max)


ON_NAN = ("raise", "count")
"""What to do with a vote without a finite answer: refuse the model, or count it as a class of its own."""


def no_class(num_classes: int) -> int:
    """Return what stands for a vote without a finite answer."""
    return int(np.iinfo(vote_type(num_classes)).max)


def pack(votes: bytes | bytearray) -> bytes:
    """Return the bytes of votes, compressed: one to four kilobytes per 10,000 votes, less if nearly all agree."""
    return zlib.compress(votes, _LEVEL)


def unpack(packed: bytes, num_classes: int, most: int = MOST_VOTES) -> NDArray[Any]:
    """Return the classes of the votes in their order, as `vote_type`; raise ValueError on damaged bytes.

    Not lenient: one whole compressed stream and nothing after it. What would unpack to more votes than there can be
    is given up there, so that a few bytes never fill the memory.

    Args:
        packed: what `pack` returned.
        num_classes: classes of the classifier.
        most: votes that there can be at most.
    """
    kind = vote_type(num_classes)
    raw = inflate(packed, min(most, MOST_VOTES) * kind.itemsize)
    if len(raw) % kind.itemsize:
        raise ValueError(f"damaged votes ({len(raw):,} bytes are no whole number of votes)")
    return np.frombuffer(raw, dtype=kind)


def inflate(packed: bytes, most: int) -> bytes:
    """Return at most `most` bytes from exactly one compressed stream; raise ValueError otherwise."""
    if not isinstance(packed, bytes):
        raise ValueError(f"damaged votes (they are stored as {type(packed).__name__}, not as bytes)")
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(f"damaged votes ({error})") from error
    if len(raw) > most:
        raise ValueError(f"damaged votes (they unpack to more than the {most:,} bytes that there can be)")
    if not stream.eof:
        raise ValueError("damaged votes (they end in the middle)")
    if stream.unused_data:
        raise ValueError(f"damaged votes ({len(stream.unused_data):,} bytes follow them)")
    return raw


def tallied(classes: NDArray[Any], num_classes: int) -> NDArray[np.int64]:
    """Count votes by class; those for no class are in none."""
    return np.bincount(classes[classes < num_classes], minlength=num_classes).astype(np.int64)


def as_text(packed: Mapping[str, bytes]) -> dict[str, str]:
    """Return packed votes by phase as text, for JSON."""
    return {phase: base64.b85encode(votes).decode() for phase, votes in packed.items()}


class VoteLog:
    """Collects the votes of one image and one classifier, phase by phase.

    Not a part of any decision: only counts decide. One byte per vote (two from 256 classes on) until a phase is
    packed. A log that missed a chunk holds nothing from then on, because a part could not be checked.
    """

    def __init__(self) -> None:
        self._done: dict[str, bytes] = {}
        self._phase = ""
        self._now = bytearray()
        self._whole = True

    def start(self, phase: str) -> None:
        """Begin a phase; what came before is packed."""
        if self._phase:
            self._done[self._phase] = pack(self._now)
        self._phase, self._now = phase, bytearray()

    def add(self, classes: NDArray[Any] | None) -> None:
        """Take the votes of the next chunk; None if whoever drew them kept only counts."""
        if classes is None:
            self._whole = False
            self._now.clear()
        elif self._whole:
            self._now += classes.tobytes()

    def packed(self) -> dict[str, bytes]:
        """Return the votes so far by phase, packed; nothing if any are missing."""
        return {**self._done, self._phase: pack(self._now)} if self._whole else {}
