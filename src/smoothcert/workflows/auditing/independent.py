"""A certificate held against what its counts prove by a second set of formulas, where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from smoothcert.certificates import Tally
from smoothcert.noise import NoiseLaw
from smoothcert.store import CertificateRow
from smoothcert.workflows.auditing.second_bounds import BOUNDS, TAIL_TOLERANCE, tail
from smoothcert.workflows.auditing.second_radii import MOST_COORDINATES, RADII, RIVALS

_TOLERANCE = 1e-9  # relative, of radii
_REPLAYED = "were replayed, not re-derived"


def without_second_formula(noise: NoiseLaw, procedure: Mapping[str, Any]) -> Iterator[str]:
    """Yield what of a run has no second formula, so that its own code alone speaks for it.

    Args:
        noise: law of the noise.
        procedure: its description in the manifest.
    """
    name, known = noise.law_name, procedure["name"] in BOUNDS
    if known and procedure.get("runner_up"):
        if name not in RIVALS:
            yield f"no second formula for noise {name!r} against the runner-up: its radii {_REPLAYED}"
    elif name not in RADII:
        yield f"no second formula for noise {name!r}: its radii {_REPLAYED}"
    if not known:
        yield (
            f"no second formula for procedure {procedure['name']!r}: its bounds {_REPLAYED}, and its radii with them"
        )


def contradictions(
    noise: NoiseLaw,
    procedure: Mapping[str, Any],
    alpha: float,
    certificate: CertificateRow,
    tallies: Sequence[Tally],
) -> list[str]:
    """Return what a certified image claims beyond what its counts prove; nothing for an abstention.

    Args:
        noise: law of the noise.
        procedure: its description in the manifest.
        alpha: error probability per image.
        certificate: the stored row, of the right kinds.
        tallies: the stored counts at deciding looks.
    """
    if certificate.predicted is None:
        return [] if certificate.radius == 0 else [f"abstained with a radius of {certificate.radius}"]
    if (
        procedure["name"] not in BOUNDS
    ):  # nobody here knows what it makes of its counts, nor its radii of that
        return []
    if procedure.get("runner_up"):
        texts = list(_rival_too_strong(noise, alpha, certificate, tallies[-1]))
    else:
        texts = list(_radius_too_large(noise, certificate))
    return texts + list(_unproven(noise, procedure, alpha, certificate, tallies))


def _radius_too_large(noise: NoiseLaw, certificate: CertificateRow) -> Iterator[str]:
    """Say so if the radius is more than its probability gives."""
    radius, p_lower = certificate.radius, certificate.p_lower
    if noise.law_name not in RADII or p_lower >= 1:
        return
    most = RADII[noise.law_name](max(p_lower, 0.5), noise.parameters())
    beyond = noise.norm == "l0" and most >= MOST_COORDINATES
    if radius > most * (1 + _TOLERANCE) + 1e-15 and not beyond:
        yield f"radius {radius} is more than the {most} that p_lower = {p_lower} gives"


def _rival_too_strong(
    noise: NoiseLaw, alpha: float, certificate: CertificateRow, tally: Tally
) -> Iterator[str]:
    """Say so if the strongest other class may have a probability at which the radius would not hold."""
    p_lower, counts = certificate.p_lower, tally.counts
    predicted: Any = certificate.predicted  # a certified image has one
    if noise.law_name not in RIVALS or not 0 < p_lower < 1:
        return
    q = RIVALS[noise.law_name](p_lower, certificate.radius * (1 - _TOLERANCE), noise.parameters())
    rival = max(int(np.delete(counts.votes, predicted).max(initial=0)), counts.unanswered)
    if q >= (1 - p_lower) * (1 - _TOLERANCE):
        return
    # Chance to see the rival so weak if it had q: its absence, summed by itself so that nothing cancels.
    if q <= 0 or tail(counts.drawn - rival, counts.drawn, 1 - q) > alpha / 2 * (1 + TAIL_TOLERANCE):
        yield f"{rival:,} of {counts.drawn:,} votes for another class do not prove that it has at most {q}"


def _unproven(
    noise: NoiseLaw,
    procedure: Mapping[str, Any],
    alpha: float,
    certificate: CertificateRow,
    tallies: Sequence[Tally],
) -> Iterator[str]:
    """Say so if the counts at a deciding look do not prove the probability that was concluded from them."""
    for tally in tallies:
        if tally.purpose not in ("bound", "certify"):
            continue
        votes, drawn = int(tally.counts.votes[certificate.predicted]), tally.counts.drawn
        p0 = certificate.p_lower if tally.radius is None else float(noise.threshold(tally.radius))
        level = BOUNDS[procedure["name"]](procedure, alpha, (votes, drawn, p0))
        if level is not None:
            yield f"{votes:,} of {drawn:,} votes do not prove a probability of {p0} at alpha {level}"
