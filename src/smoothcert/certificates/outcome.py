"""Why a certification ended: an enumeration whose members are the sentences."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """How a certification ended; the value is the sentence to show a person."""

    CERTIFIED = "certified: within the radius the smoothed classifier answers this class"
    NO_MAJORITY = "abstained: the votes do not show that any class has more than half of the probability"
    NO_LEAD = "abstained: the votes do not show that one class is more probable than every other"
    OUT_OF_REACH = "abstained: the votes show that the asked radius is out of reach"
    STOPPED = "abstained: stopped by whoever asked, before the votes showed that a class has more than half"
    CAP_REACHED = "abstained: the votes ran out before the asked radius was either proven or ruled out"
    FAILED = "failed: the model raised an error or answered with no number, so nothing is certified"

    def __str__(self) -> str:
        return self.value
