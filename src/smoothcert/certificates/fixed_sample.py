"""CERTIFY (Cohen et al. 2019): a fixed number of votes, then the largest radius they prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from smoothcert.bounds import clopper_pearson_lower
from smoothcert.bounds.clopper_pearson import check_level
from smoothcert.certificates.certificate import Tally, Verdict
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.procedure import PROCEDURES, Plan, Procedure, Trial, check_votes
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Counts, Phase


@PROCEDURES.register("fixed")
@dataclass(frozen=True)
class FixedSample(Procedure):
    """Choose the class by n0 votes, bound it by n fresh ones (Clopper-Pearson).

    Not adaptive: a hopeless image costs as much as an easy one.

    Args:
        n0: votes that choose the class.
        n: votes that bound its probability.
    """

    n0: int = 100
    n: int = 100_000
    procedure_name: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        check_votes("n0", self.n0)
        check_votes("n", self.n)

    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:  # noqa: D102
        check_level("alpha", alpha)
        return _FixedPlan(noise, alpha, (Phase("select", (self.n0,)), Phase("estimate", (self.n,))))


@dataclass(frozen=True)
class _FixedPlan(Plan):
    noise: NoiseLaw
    alpha: float
    phases: tuple[Phase, Phase]

    def start(self) -> Trial:
        return _FixedTrial(self)


class _FixedTrial(Trial):
    def __init__(self, plan: _FixedPlan) -> None:
        super().__init__()
        self.plan = plan

    def absorb(self, look: int, counts: Counts) -> bool:
        purpose = "bound" if look else "select"
        self.tallies.append(Tally(self.plan.phases[look].name, purpose, counts))
        return look == 1

    def verdict(self) -> Verdict:
        chosen, estimate = self.tallies[0].counts.top, self.tallies[1].counts
        p_lower = clopper_pearson_lower(int(estimate.votes[chosen]), estimate.drawn, self.plan.alpha)
        if p_lower <= 0.5:
            return Verdict(Outcome.NO_MAJORITY, None, 0.0, p_lower, tuple(self.tallies))
        return Verdict(
            Outcome.CERTIFIED, chosen, self.plan.noise.radius(p_lower), p_lower, tuple(self.tallies)
        )
