"""The bounds behind a certificate, computed a second time by other formulas than the ones that made it.

Tails are summed term by term instead of inverting the incomplete beta function; the e-process is integrated
numerically (Jeffreys' prior is flat in theta where p = sin^2 theta) instead of by its closed form; the normal
distribution is Python's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from smoothcert.bounds import binomial_law
from smoothcert.certificates import Tally
from smoothcert.noise import NoiseLaw

_TOLERANCE = 1e-9  # relative, of radii
_TAIL_TOLERANCE = 1e-6  # relative, of error probabilities
_EVIDENCE_TOLERANCE = 1e-3  # relative; the quadrature is good to 1e-4
_POINTS = 2**14
_MOST_COORDINATES = 500  # beyond, sums of floats are no second opinion


def tail(successes: int, trials: int, p: float) -> float:
    """Return the chance of at least so many successes, summed term by term."""
    lowest, law = binomial_law(trials, p)
    return min(1.0, math.fsum(law[max(successes - lowest, 0) :].tolist()))


@lru_cache(maxsize=2**14)
def evidence(successes: int, trials: int, p0: float) -> float:
    """Return the e-process against p <= p0, by the midpoint rule; 0 where p0 leaves no alternative."""
    first = math.asin(math.sqrt(p0))
    theta = first + (math.pi / 2 - first) * (np.arange(_POINTS) + 0.5) / _POINTS
    p = np.sin(theta) ** 2
    failures = trials - successes
    logs = successes * (np.log(p) - math.log(p0))
    if failures:
        logs = logs + failures * (np.log1p(-p) - math.log1p(-p0))
    largest = float(logs.max())
    return math.exp(min(largest + math.log(float(np.exp(logs - largest).mean())), 700.0))


@lru_cache(maxsize=2**10)
def replaced(keep: float, levels: int, radius: int) -> float:
    """Return the probability that `radius` replaced coordinates need, by convolving one coordinate at a time."""
    other = (1 - keep) / (levels - 1)
    one = np.array([keep, (levels - 2) * other, other])  # like the image, like neither, like its neighbour
    law = np.ones(1)
    for _ in range(radius):
        law = np.convolve(law, one)
    there = np.cumsum(law[::-1])  # at the neighbour, from what speaks most for the image on
    last = int(np.searchsorted(there, 0.5))
    before = float(there[last - 1]) if last else 0.0
    return float(law[:last].sum() + law[last] * (0.5 - before) / law[::-1][last])


def _coordinates(p: float, law: Mapping[str, Any]) -> float:
    """Return the largest number of coordinates that a probability allows, up to the rounding of sums."""
    radius = 0
    while radius < _MOST_COORDINATES and p > replaced(law["keep"], law["levels"], radius + 1) * (1 - 1e-12):
        radius += 1
    return float(radius)


def _table_cost(law: Mapping[str, Any]) -> float:
    """Return what 53 bits of 510 (K + 1) thresholds cost in probability, at the image and at its neighbour."""
    thresholds = 510 * (max(1, int(6 * law["sigma"])) + 1)
    return float(2 * law["dimension"] * thresholds * 2.0**-53)


RADII: dict[str, Callable[[float, Mapping[str, Any]], float]] = {
    "gaussian": lambda p, law: law["sigma"] * NormalDist().inv_cdf(p),
    "uniform": lambda p, law: 2 * law["half_width"] * (p - 0.5),
    "grid-gaussian": lambda p, law: law["sigma"] * NormalDist().inv_cdf(max(p - _table_cost(law), 0.5)),
    "discrete": _coordinates,
    "laplace": lambda p, law: -law["scale"] * math.log(2 * (1 - p)),
}
"""Radius by noise law from a probability in (1/2, 1); laws that are not here are checked by their own code alone."""


def contradictions(
    noise: NoiseLaw,
    procedure: Mapping[str, Any],
    alpha: float,
    certificate: Sequence[Any],
    tallies: Sequence[Tally],
) -> list[str]:
    """Return what a certified image claims beyond what its counts prove; nothing for an abstention.

    Args:
        noise: law of the noise.
        procedure: its description in the manifest.
        alpha: error probability per image.
        certificate: the stored row.
        tallies: the stored counts at deciding looks.
    """
    predicted, radius, p_lower = certificate[3], certificate[4], certificate[5]
    if predicted is None:
        return [] if radius == 0 else [f"abstained with a radius of {radius}"]
    found = []
    law = RADII.get(noise.law_name)
    if law is not None and not procedure.get("runner_up") and p_lower < 1:
        most = law(max(p_lower, 0.5), noise.parameters())
        beyond = noise.norm == "l0" and most >= _MOST_COORDINATES
        if radius > most * (1 + _TOLERANCE) + 1e-15 and not beyond:
            found.append(f"radius {radius} is more than the {most} that p_lower = {p_lower} gives")
    if law is not None and procedure.get("runner_up"):
        found += _rival_too_strong(noise, alpha, predicted, radius, p_lower, tallies[-1])
    for tally in tallies:
        if tally.purpose in ("bound", "certify"):
            p0 = p_lower if tally.radius is None else float(noise.threshold(tally.radius))
            text = _unproven(procedure, alpha, int(tally.counts.votes[predicted]), tally.counts.drawn, p0)
            found += [text] if text else []
    return found


def _rival_too_strong(
    noise: NoiseLaw, alpha: float, predicted: int, radius: float, p_lower: float, tally: Tally
) -> list[str]:
    """Say so if the strongest other class may have a probability at which the radius would not hold.

    The radius is sigma/2 (Phi^-1(p) - Phi^-1(q)), so it rests on every other class having at most the q below.
    """
    sigma = noise.parameters().get("sigma")
    if sigma is None or not 0 < p_lower < 1:
        return []
    normal, counts = NormalDist(), tally.counts
    q = normal.cdf(normal.inv_cdf(p_lower) - 2 * radius / sigma * (1 - _TOLERANCE))
    rival = max(int(np.delete(counts.votes, predicted).max(initial=0)), counts.unanswered)
    # Chance to see the rival so weak if it had q: its absence, summed by itself so that nothing cancels.
    at_most = tail(counts.drawn - rival, counts.drawn, 1 - q)
    if at_most <= alpha / 2 * (1 + _TAIL_TOLERANCE) or q >= (1 - p_lower) * (1 - _TOLERANCE):
        return []
    return [f"{rival:,} of {counts.drawn:,} votes for another class do not prove that it has at most {q}"]


def _unproven(procedure: Mapping[str, Any], alpha: float, votes: int, drawn: int, p0: float) -> str | None:
    """Say so if the counts at a deciding look do not prove a probability above p0."""
    claim = f"{votes:,} of {drawn:,} votes do not prove a probability of {p0}"
    if procedure["name"] == "sequential":
        needed = (1 - _EVIDENCE_TOLERANCE) / alpha
        return None if p0 <= 0 or evidence(votes, drawn, p0) >= needed else f"{claim} at alpha {alpha}"
    # Every look of a group-sequential table spends at most alpha by itself; a stage of CERTIFYADP its share.
    level = alpha / len(procedure["stages"]) if procedure["name"] == "staged" else alpha
    return None if tail(votes, drawn, p0) <= level * (1 + _TAIL_TOLERANCE) else f"{claim} at alpha {level}"
