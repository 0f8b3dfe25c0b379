"""Exact alpha spending: CERTIFY's power at one radius for a fraction of its votes."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from smoothcert.bounds import Boundary, check_level, final_votes, geometric_looks, group_sequential_table
from smoothcert.certificates.boundary_plan import plan_boundaries
from smoothcert.certificates.procedure import Plan, Procedure, check_radius, check_votes
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import CHUNK_VOTES

MOST_LOOKED_AT = 12_500_000
"""Votes at the last look: the table's work grows with them, to a few seconds here."""


@dataclass(frozen=True)
class GroupSequential(Procedure):
    """Prove one radius at looks fixed in advance, each spending an exactly computed share of alpha.

    Not anytime-valid: only the planned looks are paid for. Keeps 80% of alpha for the last look, so it proves
    what CERTIFY with n votes proves, nearly always with far fewer.

    Args:
        radius: the radius to prove, in pixel units.
        n: votes of a fixed sample to match in power; the cap is 3% higher at alpha .001, for the spending.
        beta: error probability of giving up although the radius holds.
        n0: separate votes that choose the class; 0: the same votes choose it and pay for it. By default 0 if the
            radius is at least .25 sigma, else 100.
    """

    radius: float
    n: int = 100_000
    beta: float = 0.001
    n0: int | None = None

    def __post_init__(self) -> None:
        check_radius("radius", self.radius)
        check_votes("n", self.n)
        check_level("beta", self.beta)
        if self.n0 is not None:
            check_votes("n0", self.n0, least=0)

    @override
    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        check_level("alpha", alpha)
        last = final_votes(self.n, alpha)
        if last > MOST_LOOKED_AT:
            raise InvalidArgumentError(
                f"n={self.n:,} at alpha={alpha:g} needs an exact table of {last:,} votes, which takes minutes beyond "
                f"{MOST_LOOKED_AT:,}; use a smaller n or alpha, or the procedure Sequential, which needs no table"
            )
        looks = geometric_looks(last, border=CHUNK_VOTES)

        def make(p0: float, level: float) -> Boundary:
            return group_sequential_table(looks, p0, level, self.beta).boundary

        return plan_boundaries(noise, alpha, radii=(self.radius,), looks=looks, n0=self.n0, make=make)
