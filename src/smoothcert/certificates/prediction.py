"""PREDICT (Cohen et al. 2019): the smoothed classifier's answer, or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smoothcert.bounds import check_level, two_way_p_value
from smoothcert.certificates.procedure import check_votes
from smoothcert.sampling import Counts, Decision, Phase


@dataclass(frozen=True)
class Prediction:
    """What PREDICT concludes. Not a certificate: it says nothing about images nearby.

    Args:
        predicted: the class, or None on abstention.
        counts: the votes that it rests on.
    """

    predicted: int | None
    counts: Counts


@dataclass(frozen=True)
class PredictionPlan:
    """PREDICT with n votes: a two-sided binomial test between the top two classes.

    Args:
        n: votes drawn.
        alpha: probability that the answer is not the smoothed classifier's class.
    """

    n: int
    alpha: float

    def __post_init__(self) -> None:
        check_votes("n", self.n)
        check_level("alpha", self.alpha)

    @property
    def phases(self) -> tuple[Phase]:
        """The one stream of votes, looked at once."""
        return (Phase("predict", (self.n,)),)

    def start(self) -> Decision[Prediction]:
        """Return a new decision."""
        return _PredictionDecision(self.alpha)


class _PredictionDecision(Decision[Prediction]):
    counts: Counts

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def absorb(self, look: int, counts: Counts) -> bool:
        self.counts = counts
        return True

    def verdict(self) -> Prediction:
        # Votes without a finite answer compete like a class of their own.
        rivals = np.append(self.counts.votes, self.counts.unanswered)
        first = self.counts.top
        second = int(np.delete(rivals, first).max())
        certain = two_way_p_value(int(self.counts.votes[first]), second) <= self.alpha
        return Prediction(first if certain else None, self.counts)
