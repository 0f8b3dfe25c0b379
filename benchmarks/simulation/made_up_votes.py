"""Votes of images whose vote shares are known, in place of those of a network."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from smoothcert.sampling import CHUNK_VOTES

_BLOCK = 16  # chunks drawn at a time
_KEPT = 4_096  # blocks that are remembered: more than are open at a time


class Votes(Protocol):
    """Says what a chunk of an image brings, whoever asks, and whenever."""

    classes: int

    def of(self, index: int, phase: str, number: int, votes: int) -> NDArray[np.int64]:
        """Return the votes of one chunk, by class."""
        ...


class MadeUpVotes:
    """Votes drawn from known shares: the leading class has its own, the others share the rest evenly.

    Keyed as real ones are, by seed, image, phase and chunk, so that they depend on nothing else.

    Args:
        shares: vote share of the leading class by image, in [0, 1].
        classes: how many there are; the first leads.
        seed: of all votes.
    """

    def __init__(self, shares: Sequence[float] | NDArray[np.float64], classes: int, seed: int) -> None:
        self.shares, self.classes, self.seed = np.asarray(shares, dtype=np.float64), classes, seed
        self._block = lru_cache(_KEPT)(self._drawn)

    def __reduce__(self) -> tuple[Any, ...]:  # what is remembered need not travel
        return MadeUpVotes, (self.shares, self.classes, self.seed)

    def of(self, index: int, phase: str, number: int, votes: int) -> NDArray[np.int64]:
        """Return the votes of one chunk, by class."""
        if votes == CHUNK_VOTES:
            block: NDArray[np.int64] = self._block(index, phase, number // _BLOCK, CHUNK_VOTES)
            chunk: NDArray[np.int64] = block[number % _BLOCK]
        else:
            chunk = self._drawn(index, phase, number, votes)[0]
        return chunk

    def _drawn(self, index: int, phase: str, place: int, votes: int) -> NDArray[np.int64]:
        """Return a block of chunks; `place` is that of the block, or of the one chunk that is short."""
        share = self.shares[index]
        chances = np.full(self.classes, (1 - share) / (self.classes - 1))
        chances[0] = share
        key = (self.seed, index, zlib.crc32(phase.encode()), place, votes)
        return np.random.default_rng(key).multinomial(votes, chances, size=_BLOCK)
