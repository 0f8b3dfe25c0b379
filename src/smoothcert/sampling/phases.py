"""The vote contract: votes come in chunks, chunks in phases, and a procedure looks at set places only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

CHUNK_VOTES = 64
"""Votes per chunk, the atom of work. Changing it changes every vote: it is part of a run's identity."""

_DENSE = 2**20  # votes up to which every border is worth a look
_SPARSE = 1_000  # of the votes so far, one part


@dataclass(frozen=True)
class Phase:
    """One stream of votes for an image and the places where a procedure looks at it.

    Not shared between purposes: votes that choose the class and votes that bound it are different phases.

    Args:
        name: keys the stream, e.g. "select", "estimate", "stage-2".
        looks: cumulative votes of this phase at each look, increasing; all but the last on chunk borders.
    """

    name: str
    looks: Sequence[int]
    votes: int = field(init=False, repr=False)  # of the whole phase

    def __post_init__(self) -> None:
        looks = np.asarray(self.looks)
        if looks.size == 0 or looks[0] < 1 or (np.diff(looks) <= 0).any():
            raise ValueError(f"phase {self.name!r} needs increasing looks of at least one vote")
        if (looks[:-1] % CHUNK_VOTES).any():
            raise ValueError(f"phase {self.name!r} looks inside a chunk, where the votes have no fixed order")
        object.__setattr__(self, "votes", int(looks[-1]))

    @property
    def chunks(self) -> int:
        """Chunks of the whole phase; the last may be short."""
        return -(-self.votes // CHUNK_VOTES)

    def chunk_votes(self, number: int) -> int:
        """Return the votes that chunk `number` contributes."""
        return min(CHUNK_VOTES, self.votes - number * CHUNK_VOTES)


def chunk_borders(votes: int) -> tuple[int, ...]:
    """Return the looks of a procedure that looks as often as is of use, ending with `votes`.

    Every chunk border up to 2^20 votes, then borders a thousandth apart: waiting for the next costs at most that, and
    10^8 votes have some 21,000 looks instead of 1.6 million.
    """
    looks, dense = [*range(CHUNK_VOTES, min(votes, _DENSE), CHUNK_VOTES)], _DENSE
    while dense < votes:
        looks.append(dense)
        dense += -(-dense // (_SPARSE * CHUNK_VOTES)) * CHUNK_VOTES
    return (*looks, votes)
