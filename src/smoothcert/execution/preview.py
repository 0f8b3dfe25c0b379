"""What a run would cost by the procedure asked for and by others, from a trial of some of its images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smoothcert.certificates import FixedSample, GroupSequential, Plan, Procedure, Sequential, Staged
from smoothcert.errors import InvalidArgumentError
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
    target = _target(procedure)
    found = [Rival(procedure.procedure_name, "", procedure.plan(noise, alpha), target is not None)]
    for rival in _candidates(target, noise):
        if rival.procedure_name == procedure.procedure_name:
            continue
        try:
            plan = rival.plan(noise, alpha)
        except InvalidArgumentError:  # a radius out of reach of this noise
            continue
        name, radius = rival.procedure_name, _target(rival)
        aim = "" if radius is None else f" --radius {radius:g}"
        own = target is None or len(getattr(procedure, "targets", None) or ()) > 1  # not what was asked for
        label = f"{name} r={radius:g}" if own and radius is not None else name
        found.append(Rival(label, f"--procedure {name}{aim}", plan, radius is not None))
    return found


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


def _target(procedure: Procedure) -> float | None:
    """Return the largest radius a procedure is to prove, or None where it looks for the largest provable."""
    targets = getattr(procedure, "targets", None)
    if targets is not None:
        return max(targets, default=None)
    return getattr(procedure, "radius", None)


def _candidates(target: float | None, noise: NoiseLaw) -> list[Procedure]:
    if target is None:
        return [FixedSample(), Sequential(), GroupSequential(radius=usual_radius(noise))]
    return [FixedSample(), Staged(radius=target), Sequential(radius=target), GroupSequential(radius=target)]
