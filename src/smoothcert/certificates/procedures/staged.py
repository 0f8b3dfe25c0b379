"""CERTIFYADP (Horvath et al. 2022): one radius, fresh votes in growing stages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from typing_extensions import override

from smoothcert.bounds import check_level, staged_boundary
from smoothcert.certificates.boundary_plan import BoundaryPlan
from smoothcert.certificates.procedure import (
    Plan,
    Procedure,
    check_list,
    check_radius,
    check_votes,
    reachable_threshold,
)
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Phase

MOST_STAGES = 64  # each twice as long as the one before is more votes than there are


@dataclass(frozen=True)
class Staged(Procedure):
    """Try to prove one radius with few votes first; each further stage starts afresh with more.

    Not accumulating: the votes of a stage that stayed undecided are thrown away, which is why `Sequential`
    and `GroupSequential` need fewer.

    Args:
        radius: the radius to prove, in pixel units.
        stages: votes of each stage, increasing.
        beta: error probability of giving up although the radius holds, over all stages.
        n0: votes that choose the class.
    """

    radius: float
    stages: Sequence[int] = (100, 1_000, 10_000, 120_000)
    beta: float = 0.001
    n0: int = 100

    def __post_init__(self) -> None:
        check_radius("radius", self.radius)
        check_level("beta", self.beta)
        check_votes("n0", self.n0)
        object.__setattr__(self, "stages", check_list("stages", self.stages, MOST_STAGES))
        for votes in self.stages:
            check_votes("each of stages", votes)
        if any(a >= b for a, b in zip(self.stages, self.stages[1:], strict=False)):
            raise InvalidArgumentError(
                f"stages must be increasing numbers of votes such as (100, 1000, 10000), got {self.stages}"
            )

    @staticmethod
    def no_loss(n: int, stages: int, alpha: float) -> int:
        """Return the votes of the last stage with which nothing is lost against CERTIFY with n votes.

        Theorem 6.1(3) of Horvath et al. 2022: the last stage, at alpha / stages, then reaches every radius that CERTIFY
        reaches. The published 120,000 for four stages has a largest radius that is a hair smaller.

        Args:
            n: votes of CERTIFY.
            stages: number of stages.
            alpha: error probability per image, one-sided, over all stages.
        """
        check_votes("n", n)
        check_votes("stages", stages)
        check_level("alpha", alpha)
        return math.ceil(n * (1 + math.log(stages) / math.log(1 / alpha)))

    @classmethod
    def rival(cls, target: float | None, usual: float) -> Self | None:
        """Return itself where others have a target; who has none yet is better served by `GroupSequential`."""
        return None if target is None else super().rival(target, usual)

    @override
    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        check_level("alpha", alpha)
        p0 = reachable_threshold(noise, self.radius)
        boundary = staged_boundary(tuple(self.stages), p0, alpha, self.beta)
        stages = tuple(Phase(f"stage-{i}", (votes,)) for i, votes in enumerate(self.stages, start=1))
        return BoundaryPlan((Phase("select", (self.n0,)), *stages), (self.radius,), (p0,), (boundary,))
