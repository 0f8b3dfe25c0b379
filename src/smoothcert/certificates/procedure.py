"""What every procedure is: data, turned into a plan that is fixed before the first vote."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from smoothcert.arguments import is_whole
from smoothcert.bounds import MOST_TRIALS
from smoothcert.certificates.certificate import Verdict
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw, in_words
from smoothcert.options import Option, options_of
from smoothcert.radii import asked_radii, named_radii
from smoothcert.registry import Registry, name_of
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
    """A way to certify, as data. Not bound to a classifier, a noise law or an alpha: `plan` binds it.

    A frozen dataclass in a file of its own, whose name is the procedure's. What it is to prove is a field `radius`, or
    `radii`: manifests and tables know it by that name.
    """

    procedure_name: ClassVar[str]  # in the registry and in manifests: its file's
    stops_early: ClassVar[bool] = True  # whether votes are spared where few suffice

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.procedure_name = name_of(cls)

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return what a person can tell the procedure: its fields."""
        return options_of(cls)

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> Self:
        """Build the procedure from what a person gave; refuse what it does not take, and ask for what it needs.

        Args:
            given: values by the name of the option; None counts as not given.
        """
        takes = {option.name: option for option in cls.options()}
        said = {option: value for option, value in given.items() if value is not None}
        for option in said:
            if option not in takes:
                raise InvalidArgumentError(
                    f"procedure {cls.procedure_name!r} takes no --{option}; it takes --{', --'.join(takes)}"
                )
        for need in takes.values():
            if need.required and need.name not in said:
                what = f"--{need.name} ({need.text.rstrip('.')}); add it"
                if need.name == "radius":
                    what = "to know what to prove: add --radius 0.25"
                raise InvalidArgumentError(f"procedure {cls.procedure_name!r} needs {what}")
        return cls(**{takes[option].field: takes[option].taken(value) for option, value in said.items()})

    @abstractmethod
    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        """Fix every look and threshold before the first vote.

        Args:
            noise: law of the noise.
            alpha: error probability of a false certificate, one-sided, per image, in (0, 1).
        """

    @property
    def targets(self) -> tuple[float, ...]:
        """The radii to prove, increasing; none where the largest is looked for."""
        return asked_radii({name: getattr(self, name, None) for name in ("radius", "radii")}) or ()

    @classmethod
    def rival(cls, target: float | None, usual: float) -> Self | None:
        """Return the procedure as it is worth comparing with others, else as it comes; None if it is not.

        Args:
            target: the radius that the others prove; None if they look for the largest.
            usual: a radius to prove where there is no target, and this procedure needs one.
        """
        options = {option.name: option for option in cls.options()}
        if any(option.required for name, option in options.items() if name != "radius"):
            return None  # nobody knows what to tell it
        if "radius" not in options or (target is None and not options["radius"].required):
            return cls()
        return cls.from_options({"radius": usual if target is None else target})

    def describe(self) -> dict[str, Any]:
        """Return name and parameters as plain values, for a manifest."""
        return {"name": PROCEDURES.told_name(type(self)), **asdict(self)}  # type: ignore[call-overload]


PROCEDURES: Registry[type[Procedure]] = Registry("procedure", "smoothcert.certificates.procedures", Procedure)


MOST_VOTES = MOST_TRIALS
"""Per image: up to here bounds are known to be rounded the safe way."""
MOST_RADIUS = 1e9
"""Beyond any: images span [0, 1], and the largest l0 radius is a number of coordinates."""


def check_votes(name: str, value: Any, least: int = 1) -> None:
    """Refuse a number of votes that is not an integer from `least` to `MOST_VOTES`."""
    if not is_whole(value, least):
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
    listed = tuple(itertools.islice(values, most + 1))
    if not 1 <= len(listed) <= most:
        raise InvalidArgumentError(
            f"{name} must hold from 1 to {most:,} numbers, got {'more' if listed else 'none'}"
        )
    return listed


def reachable_threshold(noise: NoiseLaw, radius: float) -> float:
    """Return the probability that `radius` needs; refuse a radius that no probability below 1 reaches."""
    p0 = float(noise.threshold(radius))
    if p0 >= 1:
        law = in_words(noise.parameters())
        most = named_radii(noise.radius(np.nextafter(1.0, 0.0)))[0]
        raise InvalidArgumentError(
            f"radius {radius:g} is out of reach of {noise.law_name} noise ({law}) whatever the votes: it proves radii "
            f"up to {most:g}; ask for a smaller one"
        )
    return p0
