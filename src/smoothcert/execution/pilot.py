"""A short trial before a run: some votes of many images, more for those that would cost much."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Plan
from smoothcert.sampling import CHUNK_VOTES

_FEWEST_VOTES, _MOST_VOTES = 2 * CHUNK_VOTES, 16 * CHUNK_VOTES
_DEEPER = 4  # times as many votes an image has had after each further round
_UNSETTLED = 2  # times an image's own votes it is expected to cost, from where on more votes tell more
_PATHS = 16  # simulated per image to tell so

DrawVotes = Callable[[Sequence[int], int, int], NDArray[np.int64]]
"""From places of images, votes of each and the number of the round to votes by (image, class)."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """Votes for the leading class of the images tried; they serve no certificate.

    Args:
        images: number of images of the run.
        leading: votes for the leading class, by image tried.
        drawn: votes drawn, by image tried.
    """

    images: int
    leading: NDArray[np.int64]
    drawn: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.drawn)


def first_votes(plan: Plan) -> int:
    """Return the votes with which to try an image: what a sure one takes, from 128 to 1,024, in whole chunks.

    Fewer cannot tell images that the plan is done with from those that it has hardly begun.
    """
    sure = int(plan.simulated_votes(np.ones(1), np.random.default_rng(0))[0])
    return min(max(math.ceil(sure / CHUNK_VOTES) * CHUNK_VOTES, _FEWEST_VOTES), _MOST_VOTES)


def deepened(
    counts: NDArray[np.int64],
    votes: int,
    images: int,
    plan: Plan,
    draw: DrawVotes,
    votes_left: Callable[[], float],
) -> Pilot:
    """Return the pilot after more votes of those images that the plan would spend many on.

    Each round gives four times the votes they had to all that need them, or to as many, chosen by lot, as there are
    votes for. How many is settled before a vote is drawn: none is left out for being costly.

    Args:
        counts: first votes by (image tried, class).
        votes: of each.
        images: number of images of the run.
        plan: what the votes are for.
        draw: draws further votes.
        votes_left: says how many there is time for.
    """
    lot, counts, drawn = np.random.default_rng(0), counts.copy(), np.full(len(counts), votes)
    unsettled, fresh = np.ones(len(counts), dtype=bool), np.arange(len(counts))
    for number in range(1, 64):
        unsettled[fresh] = _unsettled(plan, counts[fresh].max(axis=1), drawn[fresh], lot)
        if not unsettled.any():
            break
        asked = np.flatnonzero(unsettled & (drawn == drawn[unsettled].min()))
        step = (_DEEPER - 1) * int(drawn[asked[0]])
        many = min(len(asked), int(votes_left() / step))
        if many < 1:
            break
        chosen = np.sort(lot.permutation(asked)[:many])
        counts[chosen] += draw(chosen.tolist(), step, number)
        drawn[chosen] += step
        fresh = chosen
    return Pilot(images, counts.max(axis=1), drawn)


def _unsettled(
    plan: Plan, leading: NDArray[np.int64], drawn: NDArray[np.int64], lot: np.random.Generator
) -> NDArray[np.bool_]:
    """Say of which images more votes would tell much: those expected to cost far more than they had."""
    chances = lot.beta(leading + 0.5, drawn - leading + 0.5, size=(_PATHS, len(leading)))
    votes = plan.simulated_votes(chances.ravel(), lot).reshape(chances.shape)
    return np.asarray(votes.mean(axis=0) > _UNSETTLED * drawn)
