"""An anytime radius: no target, the largest radius that the votes so far prove, for as long as that can grow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smoothcert.bounds import confidence_sequence_lower
from smoothcert.certificates.certificate import Tally, Verdict
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.procedure import Plan
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import CHUNK_VOTES, Counts, Decision, Phase

# Of the votes between two looks: inverting the e-process takes milliseconds, so not at every border.
_GROWTH = 1.1
_CURVE_POINTS = 128  # where a simulation reckons bounds
_TYPICAL_SHARE = 4  # a quarter of the cap, for choices about speed


@lru_cache(maxsize=2**16)
def _lower(votes: int, drawn: int, alpha: float) -> float:
    """Return the confidence sequence's lower bound; kept, because many images pass through the same counts."""
    return float(confidence_sequence_lower(votes, drawn, alpha))


def _curves(
    counts: NDArray[np.int64], drawn: int, cap: int, alpha: float, beta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what counts prove and what they may still prove at the cap; between some of many, interpolated."""
    known = np.unique(counts)
    known = known[np.unique(np.linspace(0, len(known) - 1, _CURVE_POINTS).round().astype(np.int64))]
    missing = confidence_sequence_lower(drawn - known, drawn, beta)
    hoped = known + ((cap - drawn) * (1 - missing)).astype(np.int64)
    curves = (
        confidence_sequence_lower(known, drawn, alpha),
        confidence_sequence_lower(hoped, cap, alpha),
    )
    proven, reachable = (np.interp(counts, known, curve) for curve in curves)
    return proven, reachable


def spaced_looks(votes: int) -> tuple[int, ...]:
    """Return chunk borders at least ten percent apart, and `votes`."""
    looks, now = [], CHUNK_VOTES
    while now < votes:
        looks.append(now)
        now = max(now + CHUNK_VOTES, -(-int(now * _GROWTH) // CHUNK_VOTES) * CHUNK_VOTES)
    return (*looks, votes)


@dataclass(frozen=True)
class AnytimePlan(Plan):
    """Separate votes choose the class; a confidence sequence bounds it, valid at every look at once.

    Args:
        noise: law of the noise.
        alpha: error probability of the radius, over all looks.
        beta: error probability of stopping although the radius could still grow by more than the tolerance.
        tolerance: growth in pixel units that is not worth waiting for.
        phases: "select" and "estimate".
    """

    noise: NoiseLaw
    alpha: float
    beta: float
    tolerance: float
    phases: tuple[Phase, Phase]

    @property
    def planned_votes(self) -> int:
        """Votes to reckon with per image."""
        return super().planned_votes // _TYPICAL_SHARE

    @override
    def simulated_votes(self, chances: NDArray[np.float64], draws: np.random.Generator) -> NDArray[np.int64]:
        choosing, bounding = self.phases
        votes, open_ = np.full(len(chances), choosing.votes, dtype=np.int64), np.arange(len(chances))
        counts, best, seen = np.zeros(len(chances), dtype=np.int64), np.zeros(len(chances)), 0
        for look in bounding.looks:
            counts = counts + draws.binomial(look - seen, chances[open_])
            votes[open_] += look - seen
            seen = look
            proven, reachable = _curves(counts, look, bounding.votes, self.alpha, self.beta)
            best = np.maximum(best, proven)
            growth = self.noise.radius(reachable) - self.noise.radius(best)
            going = growth > self.tolerance
            open_, counts, best = open_[going], counts[going], best[going]
            if not len(open_):
                break
        return votes

    def start(self) -> Decision[Verdict]:
        """Return a new decision."""
        return _AnytimeDecision(self)

    @property
    def largest_radius(self) -> float | None:
        """The radius of all votes up to the cap; unanimous ones may stop before, by less than the tolerance."""
        cap = self.phases[1].votes
        p_lower = _lower(cap, cap, self.alpha)
        return float(self.noise.radius(p_lower)) if p_lower > 0.5 else None


class _AnytimeDecision(Decision[Verdict]):
    """Holds two tallies while under way: what chose the class, and the best bound so far."""

    def __init__(self, plan: AnytimePlan) -> None:
        self.plan = plan
        self.tallies: list[Tally] = []
        self._last: Counts  # of the look just made

    def _bound(self, tally: Tally) -> float:
        votes = int(tally.counts.votes[self.tallies[0].counts.top])
        return _lower(votes, tally.counts.drawn, self.plan.alpha)

    def absorb(self, look: int, counts: Counts) -> bool:
        if look == 0:
            self.tallies.append(Tally("select", "select", counts))
            return False
        self._last = counts
        # The sequence holds at all times at once, so the best bound so far may be kept.
        new = Tally("estimate", "bound", counts)
        if len(self.tallies) == 1:
            self.tallies.append(new)
        elif self._bound(new) > self._bound(self.tallies[1]):
            self.tallies[1] = new
        return counts.drawn == self.plan.phases[1].votes or self._can_no_longer_grow(counts)

    def _can_no_longer_grow(self, counts: Counts) -> bool:
        """Reckon with the best rate that the votes allow until the cap; a guess about power, not soundness."""
        plan, cap = self.plan, self.plan.phases[1].votes
        votes = int(counts.votes[self.tallies[0].counts.top])
        best_rate = 1 - _lower(counts.drawn - votes, counts.drawn, plan.beta)
        hoped = votes + int((cap - counts.drawn) * best_rate)
        reachable = plan.noise.radius(_lower(hoped, cap, plan.alpha))
        proven = plan.noise.radius(self._bound(self.tallies[1]))
        return bool(reachable - proven <= plan.tolerance)

    def verdict(self) -> Verdict:
        ended_early = self._last.drawn < self.plan.phases[1].votes
        return self._concluded(Outcome.OUT_OF_REACH if ended_early else Outcome.NO_MAJORITY)

    @override
    def so_far(self) -> Verdict | None:
        """Return what the best bound so far proves: the sequence holds at all times, so at that of any stop."""
        return self._concluded(Outcome.STOPPED) if len(self.tallies) > 1 else None

    def _concluded(self, without_majority: Outcome) -> Verdict:
        chosen, best = self.tallies[:2]
        p_lower, tallies = self._bound(best), (chosen, best, Tally("estimate", "stop", self._last))
        if p_lower <= 0.5:
            return Verdict(without_majority, None, 0.0, p_lower, tallies)
        return Verdict(
            Outcome.CERTIFIED, tallies[0].counts.top, self.plan.noise.radius(p_lower), p_lower, tallies
        )
