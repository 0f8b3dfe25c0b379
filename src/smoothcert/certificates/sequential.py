"""Anytime-valid certification: look after every chunk, stop as soon as the votes suffice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from smoothcert.bounds import Boundary, sequential_boundary
from smoothcert.bounds.clopper_pearson import check_level
from smoothcert.certificates.boundary_plan import plan_boundaries
from smoothcert.certificates.procedure import PROCEDURES, Plan, Procedure, check_radius, check_votes
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import chunk_borders


@PROCEDURES.register("sequential")
@dataclass(frozen=True)
class Sequential(Procedure):
    """Prove one radius, or a grid of radii in one pass, with as few votes as each image needs.

    Votes accumulate and every chunk border is a look; the e-process behind it pays for all looks at once.
    Not a search for the largest radius: what is proven is always one of the asked radii.

    Args:
        radius: the radius to prove, in pixel units; or
        radii: several radii, proven in increasing order by the same votes.
        max_samples: most votes per image.
        beta: error probability of giving up although the radius holds.
        n0: separate votes that choose the class; 0: the same votes choose it and pay for it; None: 0 if all
            radii are at least .25 sigma, else 100.
    """

    radius: float | None = None
    radii: Sequence[float] | None = None
    max_samples: int = 120_000
    beta: float = 0.001
    n0: int | None = None
    procedure_name: ClassVar[str] = "sequential"

    def __post_init__(self) -> None:
        if (self.radius is None) == (self.radii is None):
            raise InvalidArgumentError(
                f"give either radius or radii, got radius={self.radius!r}, radii={self.radii!r}"
            )
        if self.radius is not None:
            check_radius("radius", self.radius)
        if self.radii is not None:
            for radius in self.radii:
                check_radius("each of radii", radius)
            object.__setattr__(self, "radii", tuple(sorted(set(self.radii))))
            if not self.radii:
                raise InvalidArgumentError("radii must hold at least one radius, got none")
        check_votes("max_samples", self.max_samples)
        check_level("beta", self.beta)
        if self.n0 is not None:
            check_votes("n0", self.n0, least=0)

    @property
    def targets(self) -> tuple[float, ...]:
        """The radii to prove, increasing."""
        return (self.radius,) if self.radius is not None else tuple(self.radii or ())

    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:  # noqa: D102
        check_level("alpha", alpha)
        looks = chunk_borders(self.max_samples)

        def make(p0: float, level: float) -> Boundary:
            return sequential_boundary(looks, p0, level, self.beta)

        return plan_boundaries(noise, alpha, radii=self.targets, looks=looks, n0=self.n0, make=make)
