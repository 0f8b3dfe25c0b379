"""PREDICT (Cohen et al. 2019): the smoothed classifier's answer, or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smoothcert.bounds import check_level, two_way_p_value
from smoothcert.certificates.certificate import Tally, Verdict
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.procedure import Plan, Trial, check_votes
from smoothcert.sampling import Counts, Phase


def plan_prediction(n: int, alpha: float) -> Plan:
    """Return the plan of PREDICT: n votes, a two-sided binomial test between the top two classes.

    Args:
        n: votes drawn.
        alpha: probability that the answer is not the smoothed classifier's class.
    """
    check_votes("n", n)
    check_level("alpha", alpha)
    return _PredictionPlan(alpha, (Phase("predict", (n,)),))


@dataclass(frozen=True)
class _PredictionPlan(Plan):
    alpha: float
    phases: tuple[Phase]

    def start(self) -> Trial:
        return _PredictionTrial(self.alpha)


class _PredictionTrial(Trial):
    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def absorb(self, look: int, counts: Counts) -> bool:
        self.tallies.append(Tally("predict", "bound", counts))
        return True

    def verdict(self) -> Verdict:
        counts = self.tallies[0].counts
        # Votes without a finite answer compete like a class of their own.
        rivals = np.append(counts.votes, counts.unanswered)
        first = counts.top
        second = int(np.delete(rivals, first).max())
        tallies = tuple(self.tallies)
        if two_way_p_value(int(counts.votes[first]), second) > self.alpha:
            return Verdict(Outcome.NO_MAJORITY, None, 0.0, 0.0, tallies)
        return Verdict(Outcome.CERTIFIED, first, 0.0, 0.0, tallies)
