"""What a run would cost, from two seconds of trying."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smoothcert.bounds import Boundary, operate
from smoothcert.certificates import (
    Certification,
    FixedSample,
    GroupSequential,
    Plan,
    Procedure,
    Sequential,
    Staged,
)
from smoothcert.certificates.boundary_plan import BoundaryPlan
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution.runner import ImageSource
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import CHUNK_VOTES, Chunk, Sampler, single_threaded_torch

PILOT_VOTES = 2 * CHUNK_VOTES
_MOST_RECKONED = 2**20


@dataclass(frozen=True)
class Calibration:
    """What a short trial showed.

    Args:
        seconds_per_vote: of one single-threaded worker.
        shares: share of the leading class among an image's pilot votes, one per image tried.
        buffer_bytes: noise buffer of one worker.
    """

    seconds_per_vote: float
    shares: NDArray[np.float64]
    buffer_bytes: int


@dataclass(frozen=True)
class Cost:
    """What a procedure is expected to cost: votes per image, and worker seconds for all images."""

    procedure: str
    votes_per_image: float
    worker_seconds: float


def calibrate(
    certification: Certification,
    source: ImageSource,
    indices: Sequence[int],
    *,
    batch_size: int,
    seconds: float = 2.0,
) -> Calibration:
    """Draw pilot votes of some images for about two seconds on one worker; they serve no certificate.

    Args:
        certification: classifier, noise and procedure.
        source: where images come from.
        indices: images of the run; some of them, evenly spread, are tried.
        batch_size: rows per forward pass, as in the run.
        seconds: time to spend.
    """
    sampler = Sampler(
        certification.engine,
        certification.noise,
        seed=certification.seed,
        batch_size=batch_size,
        on_nan=certification.on_nan,
    )
    spread = [indices[i] for i in np.random.default_rng(0).permutation(len(indices))]
    per_batch = max(1, batch_size // PILOT_VOTES)
    shares, votes, spent = list[float](), 0, 0.0
    with single_threaded_torch():  # as a worker has it
        begin = time.monotonic()
        for start in range(0, len(spread), per_batch):
            group = spread[start : start + per_batch]
            chunks = [
                Chunk(source.image(index), index, "pilot", number, CHUNK_VOTES)
                for index in group
                for number in range(PILOT_VOTES // CHUNK_VOTES)
            ]
            tick = time.monotonic()
            drawn = sampler.draw(chunks)
            if start:  # the first batch also warms up
                spent, votes = spent + time.monotonic() - tick, votes + len(chunks) * CHUNK_VOTES
            counts = np.array([part.votes[-1] for part in drawn]).reshape(
                len(group), -1, drawn[0].votes.shape[1]
            )
            shares += (counts.sum(axis=1).max(axis=1) / PILOT_VOTES).tolist()
            if time.monotonic() - begin >= seconds:
                break
        if not votes:  # one batch only: count it, warm-up and all
            spent, votes = time.monotonic() - tick, len(chunks) * CHUNK_VOTES
    size = (batch_size + CHUNK_VOTES) * chunks[0].image.numel() * 4
    return Calibration(spent / votes, np.asarray(shares), size)


def expected_votes(plan: Plan, shares: NDArray[np.float64]) -> float:
    """Return votes per image, exact at each pilot share taken as the truth; all that are planned otherwise.

    A share of one is taken as half a vote less than all. For a grid of radii every image is charged for the
    radius that takes it longest, which is too much by little.
    """
    if not isinstance(plan, BoundaryPlan):
        return float(plan.planned_votes)
    chance = np.clip(shares, 0.5 / PILOT_VOTES, 1 - 0.5 / PILOT_VOTES)
    values, counts = np.unique(chance, return_counts=True)
    boundaries = [_with_few_looks(boundary) for boundary in plan.boundaries]
    costs = [max(operate(boundary, float(p)).expected_votes for boundary in boundaries) for p in values]
    choosing = plan.phases[0].votes if plan.selects else 0
    return choosing + float(np.average(costs, weights=counts))


def _with_few_looks(boundary: Boundary) -> Boundary:
    """Leave out the looks between a million votes and the last, which would take minutes to reckon with.

    Whoever is undecided by then is charged for all votes, which is too much.
    """
    kept = boundary.looks <= _MOST_RECKONED
    kept[-1] = True
    return Boundary(
        boundary.looks[kept], boundary.certify[kept], boundary.abandon[kept], fresh=boundary.fresh
    )


def preview(
    calibration: Calibration, procedure: Procedure, noise: NoiseLaw, alpha: float, images: int
) -> list[Cost]:
    """Return the cost of a procedure and of its rivals with the same target, the asked one first.

    Args:
        calibration: what the trial showed.
        procedure: the one that was asked for.
        noise: law of the noise.
        alpha: error probability per image.
        images: number of images of the run.
    """
    rivals: Mapping[str, Procedure | None] = {
        "asked": procedure,
        "fixed": FixedSample(),
        **_targeted(max(getattr(procedure, "targets", ()) or (getattr(procedure, "radius", None) or 0.0,))),
    }
    found = []
    for name, rival in rivals.items():
        if rival is None or (name != "asked" and type(rival) is type(procedure)):
            continue
        try:
            votes = expected_votes(rival.plan(noise, alpha), calibration.shares)
        except InvalidArgumentError:  # a radius out of reach of this noise
            continue
        label = f"{rival.procedure_name} (asked)" if name == "asked" else rival.procedure_name
        found.append(Cost(label, votes, votes * images * calibration.seconds_per_vote))
    return found


def _targeted(radius: float) -> dict[str, Procedure | None]:
    if radius <= 0:
        return {"anytime": Sequential()}
    return {
        "staged": Staged(radius=radius),
        "sequential": Sequential(radius=radius),
        "group": GroupSequential(radius=radius),
    }
