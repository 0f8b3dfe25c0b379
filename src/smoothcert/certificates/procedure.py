"""What every procedure is: data, turned into a plan that is fixed before the first vote."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from smoothcert.bounds import MOST_TRIALS
from smoothcert.certificates.certificate import Verdict
from smoothcert.certificates.radii import named_radii
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.registry import Table
from smoothcert.sampling import Counts, Decision, Phase
from smoothcert.visible import brief


class Plan(ABC):
    """A procedure for one noise law and one alpha: when it looks and what it concludes."""

    phases: Sequence[Phase]

    @property
    def planned_votes(self) -> int:
        """Votes to reckon with per image, for choices about speed; all of them unless it stops early."""
        return sum(phase.votes for phase in self.phases)

    def simulated_votes(self, chances: NDArray[np.float64], draws: np.random.Generator) -> NDArray[np.int64]:
        """Return the votes that made-up images take, drawn at random; for previews, no certificate rests on it.

        All that are planned, unless the plan can stop early.

        Args:
            chances: probability of the leading class by image, in [0, 1]; it is taken to be the one chosen.
            draws: where the votes come from.
        """
        return np.full(len(chances), sum(phase.votes for phase in self.phases), dtype=np.int64)

    @abstractmethod
    def start(self) -> Decision[Verdict]:
        """Return a new decision."""

    @property
    def largest_radius(self) -> float | None:
        """The radius that no image can exceed: what all votes for one class prove; None if they prove nothing.

        To be overridden by a plan under which unanimous votes stop before the last look.
        """
        decision, look = self.start(), 0
        for phase in self.phases:
            for drawn in phase.looks:
                if decision.absorb(look, Counts(np.array([drawn, 0]), drawn)):
                    verdict = decision.verdict()
                    return None if verdict.predicted is None else verdict.radius
                look += 1
        return None


class Procedure(ABC):
    """A way to certify, as data. Not bound to a classifier, a noise law or an alpha: `plan` binds it."""

    procedure_name: ClassVar[str]

    @abstractmethod
    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        """Fix every look and threshold before the first vote.

        Args:
            noise: law of the noise.
            alpha: error probability of a false certificate, one-sided, per image, in (0, 1).
        """

    def describe(self) -> dict[str, Any]:
        """Return name and parameters as plain values, for a manifest."""
        return {"name": self.procedure_name, **asdict(self)}  # type: ignore[call-overload]


PROCEDURES: Table[type[Procedure]] = Table("procedure")


MOST_VOTES = MOST_TRIALS
"""Per image: up to here bounds are known to be rounded the safe way."""
MOST_RADIUS = 1e9
"""Beyond any: images span [0, 1], and the largest l0 radius is a number of coordinates."""


def check_votes(name: str, value: Any, least: int = 1) -> None:
    """Refuse a number of votes that is not an integer from `least` to `MOST_VOTES`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgumentError(
            f"{name} must be an integer number of votes, at least {least}, got {brief(value)}"
        )
    if value > MOST_VOTES:
        raise InvalidArgumentError(f"{name} must be at most {MOST_VOTES:,} votes, got {brief(value)}")


def check_radius(name: str, value: Any) -> None:
    """Refuse a radius that is not a finite number from 0 to `MOST_RADIUS`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InvalidArgumentError(f"{name} must be a finite number >= 0 in pixel units, got {brief(value)}")
    if value > MOST_RADIUS:
        raise InvalidArgumentError(f"{name} must be at most {MOST_RADIUS:g} pixel units, got {brief(value)}")


def check_list(name: str, values: Any, most: int) -> tuple[Any, ...]:
    """Return what a list of numbers holds; refuse text, what is no list, and more than `most` of them."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidArgumentError(f"{name} must be a list of numbers such as (1, 2, 3), got {brief(values)}")
    found = tuple(itertools.islice(values, most + 1))
    if not 1 <= len(found) <= most:
        raise InvalidArgumentError(
            f"{name} must hold from 1 to {most:,} numbers, got {'more' if found else 'none'}"
        )
    return found


def reachable_threshold(noise: NoiseLaw, radius: float) -> float:
    """Return the probability that `radius` needs; refuse a radius that no probability below 1 reaches."""
    p0 = float(noise.threshold(radius))
    if p0 >= 1:
        law = ", ".join(f"{name} {value:g}" for name, value in noise.parameters().items())
        most = named_radii(noise.radius(np.nextafter(1.0, 0.0)))[0]
        raise InvalidArgumentError(
            f"radius {radius:g} is out of reach of {noise.law_name} noise ({law}) whatever the votes: it proves radii "
            f"up to {most:g}; ask for a smaller one"
        )
    return p0
