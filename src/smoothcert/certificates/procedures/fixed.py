"""CERTIFY (Cohen et al. 2019): a fixed number of votes, then the largest radius they prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from smoothcert.bounds import check_level, clopper_pearson_lower, runner_up_bounds
from smoothcert.certificates.certificate import Tally, Verdict
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.procedure import Plan, Procedure, check_votes
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Counts, Decision, Phase


@dataclass(frozen=True)
class FixedSample(Procedure):
    """Choose the class by n0 votes, bound it by n fresh ones (Clopper-Pearson).

    Not adaptive: a hopeless image costs as much as an easy one. Against the runner-up each side has alpha/2, and the
    class may have less than half of the votes; where a single rival has all others the radius is slightly smaller.

    Args:
        n0: votes that choose the class.
        n: votes that bound its probability.
        runner_up: bound the strongest other class too: larger radii where rivals are many.
    """

    n0: int = 100
    n: int = 100_000
    runner_up: bool = False
    stops_early: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_votes("n0", self.n0)
        check_votes("n", self.n)
        if not isinstance(self.runner_up, bool):
            raise InvalidArgumentError(f"runner_up must be True or False, got {self.runner_up!r}")

    @override
    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        check_level("alpha", alpha)
        if self.runner_up:
            noise.runner_up_radius(1.0, 0.0)  # refused now by laws that have none, not after all votes
        phases = (Phase("select", (self.n0,)), Phase("estimate", (self.n,)))
        return _FixedPlan(noise, alpha, phases, self.runner_up)

    @override
    def describe(self) -> dict[str, Any]:
        description = super().describe()
        if not self.runner_up:  # as runs were described before there was a choice
            del description["runner_up"]
        return description


@dataclass(frozen=True)
class _FixedPlan(Plan):
    noise: NoiseLaw
    alpha: float
    phases: tuple[Phase, Phase]
    runner_up: bool = False

    def start(self) -> Decision[Verdict]:
        return _FixedDecision(self)

    @property
    def largest_radius(self) -> float | None:
        if self.runner_up:
            return super().largest_radius
        p_lower = clopper_pearson_lower(self.phases[1].votes, self.phases[1].votes, self.alpha)
        return float(self.noise.radius(p_lower)) if p_lower > 0.5 else None


class _FixedDecision(Decision[Verdict]):
    def __init__(self, plan: _FixedPlan) -> None:
        self.plan = plan
        self.tallies: list[Tally] = []

    def absorb(self, look: int, counts: Counts) -> bool:
        purpose = "bound" if look else "select"
        self.tallies.append(Tally(self.plan.phases[look].name, purpose, counts))
        return look == 1

    def verdict(self) -> Verdict:
        chosen, estimate = self.tallies[0].counts.top, self.tallies[1].counts
        if self.plan.runner_up:
            return self._against_the_runner_up(chosen, estimate)
        p_lower = clopper_pearson_lower(int(estimate.votes[chosen]), estimate.drawn, self.plan.alpha)
        if p_lower <= 0.5:
            return Verdict(Outcome.NO_MAJORITY, None, 0.0, p_lower, tuple(self.tallies))
        return Verdict(
            Outcome.CERTIFIED, chosen, self.plan.noise.radius(p_lower), p_lower, tuple(self.tallies)
        )

    def _against_the_runner_up(self, chosen: int, estimate: Counts) -> Verdict:
        # Votes without a finite answer compete like a class of their own.
        others = np.append(np.delete(estimate.votes, chosen), estimate.unanswered)
        p_lower, q_upper = runner_up_bounds(
            int(estimate.votes[chosen]), int(others.max()), estimate.drawn, self.plan.alpha
        )
        if p_lower <= q_upper:
            return Verdict(Outcome.NO_LEAD, None, 0.0, p_lower, tuple(self.tallies))
        radius = self.plan.noise.runner_up_radius(p_lower, q_upper)
        return Verdict(Outcome.CERTIFIED, chosen, radius, p_lower, tuple(self.tallies))
