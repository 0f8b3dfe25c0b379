"""How long a run may draw before it stops in good order."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.arguments import is_number, is_whole
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief


@dataclass(frozen=True)
class Limit:
    """Most votes and minutes of one start of a run; not of the run, which may be continued any number of times.

    Not exact: what workers have begun is still counted, at most a few batches.

    Args:
        votes: to draw at most, about; None for any number.
        minutes: to draw at most, about; None for any time.
    """

    votes: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.votes is not None and not is_whole(self.votes, 1):
            raise InvalidArgumentError(
                f"max_votes must be a positive number of votes, or None, got {brief(self.votes)}"
            )
        if self.minutes is not None and not is_number(self.minutes, above=0):
            raise InvalidArgumentError(
                f"max_minutes must be a positive number of minutes, or None, got {brief(self.minutes)}"
            )

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return self.votes is not None or self.minutes is not None

    def is_reached(self, votes: int, seconds: float) -> bool:
        """Return whether so many votes, or seconds, are enough."""
        return (self.votes is not None and votes >= self.votes) or (
            self.minutes is not None and seconds >= 60 * self.minutes
        )
