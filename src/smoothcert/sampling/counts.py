"""`Counts`: the votes of one image, the only thing a certificate is made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Counts:
    """Votes by class and how many were drawn; two of the same stream's parts add up.

    Not a table of probabilities: `drawn` is the denominator even where a vote went to no class.

    Args:
        votes: votes by class.
        drawn: votes drawn, at least the sum of `votes`; the rest had no finite answer.
        evaluations: forward passes of base networks that the votes cost.
    """

    votes: NDArray[np.int64]
    drawn: int
    evaluations: int = 0

    def __post_init__(self) -> None:
        if self.votes.sum() > self.drawn:
            raise ValueError(f"{self.votes.sum()} votes counted, but only {self.drawn} drawn")

    @property
    def top(self) -> int:
        """The class with most votes, the lowest on ties."""
        return int(self.votes.argmax())

    @property
    def unanswered(self) -> int:
        """Votes that went to no class."""
        return self.drawn - int(self.votes.sum())

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.votes + other.votes, self.drawn + other.drawn, self.evaluations + other.evaluations
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        same = (self.drawn, self.evaluations) == (other.drawn, other.evaluations)
        return same and bool(np.array_equal(self.votes, other.votes))
