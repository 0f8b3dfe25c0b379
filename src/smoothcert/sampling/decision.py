"""What is concluded from the votes of one image and one classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from smoothcert.sampling.counts import Counts

Conclusion = TypeVar("Conclusion", covariant=True)


class Decision(ABC, Generic[Conclusion]):
    """One image and one classifier under way: counts in at every look, a conclusion out in the end.

    Not able to ask for votes: when it looks is fixed before the first one.
    """

    @abstractmethod
    def absorb(self, look: int, counts: Counts) -> bool:
        """Take the counts of the current phase at global look number `look`; return True when decided."""

    @abstractmethod
    def verdict(self) -> Conclusion:
        """Return what is concluded; only after `absorb` returned True."""

    def so_far(self) -> Conclusion | None:
        """Return what holds for whoever stops at the last look, for whatever reason; None, the default, if nothing.

        Only for decisions that pay for stopping at will: all others are about looks that were planned.
        """
        return None
