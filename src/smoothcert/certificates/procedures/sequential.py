"""Anytime-valid certification: look after every chunk, stop as soon as the votes suffice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from typing_extensions import override

from smoothcert.bounds import Boundary, check_level, sequential_boundary
from smoothcert.certificates.anytime import AnytimePlan, spaced_looks
from smoothcert.certificates.boundary_plan import DEFAULT_N0, plan_boundaries
from smoothcert.certificates.procedure import (
    Plan,
    Procedure,
    check_list,
    check_radius,
    check_votes,
)
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Phase, chunk_borders
from smoothcert.visible import brief

MOST_RADII = 256
"""Of a grid proven in one pass; each has a boundary of its own, which takes a tenth of a second and more."""


@dataclass(frozen=True)
class Sequential(Procedure):
    """Prove one radius, a grid of radii in one pass, or the largest one, with as few votes as each image needs.

    Votes accumulate and the looks are on chunk borders; the e-process behind it pays for all looks at once.
    With a target, not a search for more: what is proven is always one of the asked radii. Without one, the
    radius grows until it can no longer grow by more than the tolerance within the cap.

    Args:
        radius: the radius to prove, in pixel units; without one or several, the largest is looked for.
        radii: several radii, proven in increasing order by the same votes.
        max_samples: most votes per image.
        beta: error probability of giving up, or of stopping, too early.
        n0: separate votes that choose the class; 0: the same votes choose it and pay for it. By default 0 if all
            radii are at least .25 sigma, else 100; at least 1 without a radius.
        tolerance: growth of an anytime radius not worth waiting for, in pixel units; by default 2% of the noise's
            standard deviation.
    """

    radius: float | None = None
    radii: Sequence[float] | None = None
    max_samples: int = field(default=120_000, metadata={"option": "n"})
    beta: float = 0.001
    n0: int | None = None
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if self.radius is not None and self.radii is not None:
            raise InvalidArgumentError(
                f"give radius, radii or neither, got radius={brief(self.radius)} and radii={brief(self.radii)}"
            )
        if self.radius is not None:
            check_radius("radius", self.radius)
        if self.radii is not None:
            radii = check_list("radii", self.radii, MOST_RADII)
            for radius in radii:
                check_radius("each of radii", radius)
            object.__setattr__(self, "radii", tuple(sorted(set(radii))))
        check_votes("max_samples", self.max_samples)
        check_level("beta", self.beta)
        if self.n0 is not None:
            check_votes("n0", self.n0, least=0 if self.targets else 1)
        if self.tolerance is not None:
            check_radius("tolerance", self.tolerance)
            if self.targets:
                raise InvalidArgumentError(
                    f"tolerance={self.tolerance} belongs to an anytime radius; leave out radius and radii, or it"
                )

    @override
    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        check_level("alpha", alpha)
        if not self.targets:
            phases = (
                Phase("select", (self.n0 or DEFAULT_N0,)),
                Phase("estimate", spaced_looks(self.max_samples)),
            )
            tolerance = 0.02 * noise.std if self.tolerance is None else self.tolerance
            return AnytimePlan(noise, alpha, self.beta, tolerance, phases)
        looks = chunk_borders(self.max_samples)

        def make(p0: float, level: float) -> Boundary:
            return sequential_boundary(looks, p0, level, self.beta)

        return plan_boundaries(noise, alpha, radii=self.targets, looks=looks, n0=self.n0, make=make)
