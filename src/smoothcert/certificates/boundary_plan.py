"""The common end of all procedures with a target: boundaries on counts, one per radius."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from typing_extensions import override

from smoothcert.bounds import Boundary, shared_vote_level
from smoothcert.certificates.certificate import Tally, Verdict
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.procedure import Plan, reachable_threshold
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Counts, Decision, Phase

DEFAULT_N0 = 100
SHARED_FROM = float(ndtr(0.25))
"""Thresholds from here on (a radius of .25 sigma) may choose the class by the same votes by default."""

TYPICAL_VOTES = 3_000
"""What early stopping leaves of 100,000 votes on published per-image results, on average and generously."""

MakeBoundary = Callable[[float, float], Boundary]  # (p0, alpha) -> boundary


@dataclass(frozen=True, eq=False)
class BoundaryPlan(Plan):
    """Radii in increasing order, each with the probability it needs and the counts that prove it.

    The nulls are nested, so radii proven in increasing order by the same votes need no correction.
    """

    phases: Sequence[Phase]
    radii: tuple[float, ...]
    thresholds: tuple[float, ...]
    boundaries: Sequence[Boundary]

    @property
    def selects(self) -> bool:
        """True if the first phase only chooses the class; else the votes that bound it choose it too."""
        return self.phases[0].name == "select"

    @property
    def planned_votes(self) -> int:
        """Votes to reckon with per image: most end long before the cap."""
        return min(super().planned_votes, TYPICAL_VOTES)

    @cached_property
    def phase_of_look(self) -> tuple[str, ...]:
        """The phase of each bounding look."""
        bounding = self.phases[1:] if self.selects else self.phases
        return tuple(phase.name for phase in bounding for _ in phase.looks)

    @override
    def simulated_votes(self, chances: NDArray[np.float64], draws: np.random.Generator) -> NDArray[np.int64]:
        votes = np.full(len(chances), self.phases[0].votes if self.selects else 0, dtype=np.int64)
        open_ = np.arange(len(chances))
        counts, proven = np.zeros(len(chances), dtype=np.int64), np.zeros(len(chances), dtype=np.int64)
        first, seen = self.boundaries[0], 0
        for k, look in enumerate(first.looks.tolist()):
            step = look if first.fresh else look - seen
            seen = look
            drawn = draws.binomial(step, chances[open_])
            counts = drawn if first.fresh else counts + drawn
            votes[open_] += step
            proven, ended = self._judged(k, counts, proven)
            open_, counts, proven = open_[~ended], counts[~ended], proven[~ended]
            if not len(open_):
                break
        return votes

    def _judged(
        self, k: int, counts: NDArray[np.int64], proven: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return by image how many radii are proven after look k, and whether it ends there."""
        proven, ended = proven.copy(), np.zeros(len(counts), dtype=bool)
        for number in range(len(self.radii)):
            here = proven == number
            if here.any():  # not before: boundaries of large radii are made when asked for
                boundary = self.boundaries[number]
                proven[here & (counts >= boundary.certify[k])] += 1
                ended |= (proven == number) & (counts <= boundary.abandon[k])
        return proven, ended | (proven == len(self.radii))

    def start(self) -> Decision[Verdict]:
        """Return a new decision."""
        return _BoundaryDecision(self)

    @cached_property
    def largest_radius(self) -> float | None:
        """The largest of the radii that some look could prove; None if no look can prove any.

        Found by halving: a larger radius never needs fewer votes, and each boundary takes its time.
        """
        provable = bisect_left(range(len(self.radii)), True, key=lambda place: not self._can_prove(place))
        return self.radii[provable - 1] if provable else None

    def _can_prove(self, place: int) -> bool:
        boundary = self.boundaries[place]
        return bool((boundary.certify <= boundary.looks).any())


class _BoundaryDecision(Decision[Verdict]):
    def __init__(self, plan: BoundaryPlan) -> None:
        self.plan = plan
        self.tallies: list[Tally] = []
        self._first = 1 if plan.selects else 0

    @property
    def _chosen(self) -> int | None:
        return self.tallies[0].counts.top if self.tallies else None

    def absorb(self, look: int, counts: Counts) -> bool:
        if look < self._first:
            self.tallies.append(Tally("select", "select", counts))
            return False
        k, phase_of = look - self._first, self.plan.phase_of_look
        proven = self._proven
        # A class, once chosen or certified, stays: a later plurality cannot take over its radius.
        chosen = counts.top if self._chosen is None else self._chosen
        votes = int(counts.votes[chosen])
        while proven < len(self.plan.radii) and votes >= self.plan.boundaries[proven].certify[k]:
            self.tallies.append(Tally(phase_of[k], "certify", counts, self.plan.radii[proven]))
            proven += 1
        if proven == len(self.plan.radii):
            return True
        hopeless = votes <= self.plan.boundaries[proven].abandon[k]
        if hopeless or k == len(phase_of) - 1:
            self.tallies.append(Tally(phase_of[k], "stop", counts))
            return True
        return False

    @property
    def _proven(self) -> int:
        return sum(tally.purpose == "certify" for tally in self.tallies)

    def verdict(self) -> Verdict:
        proven, tallies = self._proven, tuple(self.tallies)
        if proven:
            radius, p_lower = self.plan.radii[proven - 1], self.plan.thresholds[proven - 1]
            return Verdict(Outcome.CERTIFIED, self._chosen, radius, p_lower, tallies)
        # Fixed looks make the reason derivable: only the last look ends undecided.
        last = tallies[-1]
        boundary, final_phase = self.plan.boundaries[0], self.plan.phase_of_look[-1]
        at_end = last.counts.drawn == boundary.looks[-1] and last.phase == final_phase
        ruled_out = last.counts.votes[tallies[0].counts.top] <= boundary.abandon[-1]
        outcome = Outcome.CAP_REACHED if at_end and not ruled_out else Outcome.OUT_OF_REACH
        return Verdict(outcome, None, 0.0, 0.0, tallies)


class _Boundaries(Sequence[Boundary]):
    """One boundary per threshold, made when it is first asked for: most images never ask for that of a large radius.

    The first is made at once, so that what cannot be made is refused before the first vote.
    """

    def __init__(self, thresholds: tuple[float, ...], alpha: float, make: MakeBoundary) -> None:
        self._thresholds, self._alpha, self._make = thresholds, alpha, make
        self._made: dict[int, Boundary] = {}
        self[0]

    def __len__(self) -> int:
        return len(self._thresholds)

    @overload
    def __getitem__(self, number: int) -> Boundary: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Boundary, ...]: ...
    def __getitem__(self, number: int | slice) -> Boundary | tuple[Boundary, ...]:
        if isinstance(number, slice):
            return tuple(self[place] for place in range(*number.indices(len(self))))
        place = range(len(self))[number]
        if place not in self._made:
            self._made[place] = self._make(self._thresholds[place], self._alpha)
        return self._made[place]


def plan_boundaries(
    noise: NoiseLaw,
    alpha: float,
    *,
    radii: tuple[float, ...],
    looks: Sequence[int],
    n0: int | None,
    make: MakeBoundary,
) -> BoundaryPlan:
    """Lay out one stream of accumulating votes with a boundary per radius, and settle how the class is chosen.

    Args:
        noise: law of the noise.
        alpha: error probability of the whole.
        radii: targets in pixel units, increasing.
        looks: cumulative votes at each look.
        n0: separate votes that choose the class; 0: the bounding votes choose it and pay for it; None: 0 if
            every radius is at least .25 sigma (a threshold of .5987), else 100.
        make: makes a boundary for a threshold and a level.
    """
    thresholds = tuple(reachable_threshold(noise, radius) for radius in radii)
    if n0 is None:
        n0 = 0 if thresholds[0] >= SHARED_FROM else DEFAULT_N0
    phases = [Phase("estimate", looks)]
    if n0:
        phases.insert(0, Phase("select", (n0,)))
    else:
        alpha = shared_vote_level(lambda level: make(thresholds[0], level), thresholds[0], alpha)
    return BoundaryPlan(tuple(phases), radii, thresholds, _Boundaries(thresholds, alpha, make))
