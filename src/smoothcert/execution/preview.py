"""What a run would cost by the procedure asked for and by others, from a trial of some of its images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from smoothcert.certificates import PROCEDURES, Plan, Procedure
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.execution.forecast import Forecast, forecast, simulate_runs
from smoothcert.execution.pilot import Pilot
from smoothcert.noise import NoiseLaw

_TYPICAL_CHANCE = 0.8413  # what a radius of one sigma needs under Gaussian noise


@dataclass(frozen=True)
class Rival:
    """A procedure whose cost is worth knowing beside others.

    Args:
        label: how tables name it.
        options: how the command line asks for it; empty for the one that was asked for.
        plan: bound to noise and alpha.
        has_target: whether it proves a radius named beforehand.
    """

    label: str
    options: str
    plan: Plan
    has_target: bool


@dataclass(frozen=True)
class Cost:
    """What a procedure is expected to cost per image."""

    rival: Rival
    votes: Forecast


def find_rivals(procedure: Procedure, noise: NoiseLaw, alpha: float) -> list[Rival]:
    """Return the procedure that was asked for, then others: those with its target, or with a usual one.

    Args:
        procedure: the one that was asked for.
        noise: law of the noise, for images of the run's shape.
        alpha: error probability per image.
    """
    target = max(procedure.targets, default=None)
    asked = Rival(procedure.procedure_name, "", procedure.plan(noise, alpha), target is not None)
    own = len(procedure.targets) != 1  # then the others prove something else than was asked for
    others = []
    for rival in _candidates(procedure, target, noise):
        try:
            plan = rival.plan(noise, alpha)
        except InvalidArgumentError:  # a radius out of reach of this noise
            continue
        name = rival.procedure_name
        aim = "".join(f" --radius {radius:g}" for radius in rival.targets)
        label = f"{name} r={rival.targets[0]:g}" if own and rival.targets else name
        others.append(Rival(label, f"--procedure {name}{aim}", plan, bool(rival.targets)))
    return [asked, *sorted(others, key=_costliest_first)]


def guiding_plan(rivals: Sequence[Rival]) -> Plan:
    """Return the plan that a trial should learn about: the asked one, or, where that has no target, one that has."""
    return next((rival for rival in rivals if rival.has_target), rivals[0]).plan


def preview(pilot: Pilot, rivals: Sequence[Rival]) -> list[Cost]:
    """Return the cost of every procedure, in their order."""
    runs = simulate_runs(pilot)
    return [Cost(rival, forecast(runs, rival.plan)) for rival in rivals]


def usual_radius(noise: NoiseLaw) -> float:
    """Return a radius worth asking for: one sigma of Gaussian noise, or what needs the same probability."""
    return float(f"{float(noise.radius(_TYPICAL_CHANCE)):.2g}")


def _candidates(asked: Procedure, target: float | None, noise: NoiseLaw) -> Iterator[Procedure]:
    """Yield every other procedure that has something to offer."""
    usual = usual_radius(noise)
    for name in PROCEDURES:
        if name != asked.procedure_name:
            with suppress(UnknownNameError):  # of a package that is broken, which this run does not need
                rival = PROCEDURES[name].rival(target, usual)
                if rival is not None:
                    yield rival


def _costliest_first(rival: Rival) -> tuple[bool, int, int]:
    """Return a key that puts those without a target first, and then those with more votes to reckon with."""
    return rival.has_target, -rival.plan.planned_votes, -sum(phase.votes for phase in rival.plan.phases)
