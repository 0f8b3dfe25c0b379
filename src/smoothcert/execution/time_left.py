"""How long a run will still take: from what the images under way look like, not from how many are done.

Easy images are decided first, so the share of images done runs ahead of the share of votes drawn. Here every image
under way is expected to take the votes that made-up images take whose leading class has as many votes as its own; those
not begun are expected to be like all that were. Only shown to a person: no vote and no certificate depends on it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Plan
from smoothcert.on_demand import special
from smoothcert.sampling import CHUNK_VOTES

_WINDOW_SECONDS = 10.0  # over which the pace is measured: it drops when few images are left
_MARK_SECONDS = 0.5
_PATHS = 2  # simulated courses at each probability

# Denser towards 0 and 1, where the same votes tell probabilities better apart.
_CHANCES: NDArray[np.float64] = np.sin(np.pi / 2 * (np.arange(500) + 0.5) / 500) ** 2


class TimeLeft:
    """Keeps count of a run and says how long it will still take. Not a forecast with a range: `preview` gives one.

    Args:
        plan: the procedure, bound to noise and alpha.
        images: how many there are to certify.
        clock: seconds; for tests.
    """

    def __init__(self, plan: Plan, images: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._plan, self._images, self._clock = plan, images, clock
        self._decided = self._decided_votes = 0
        self._marks = deque([(clock(), 0)])  # (seconds, votes drawn), the oldest first

    def decided(self, votes: int) -> None:
        """Take the votes of an image that is decided."""
        self._decided += 1
        self._decided_votes += votes

    def drawn(self, votes: int) -> None:
        """Take the number of votes drawn since the beginning, over all images."""
        now = self._clock()
        if len(self._marks) > 1 and now - self._marks[-2][0] < _MARK_SECONDS:
            self._marks.pop()
        self._marks.append((now, votes))
        while len(self._marks) > 2 and self._marks[1][0] <= now - _WINDOW_SECONDS:
            self._marks.popleft()

    @property
    def votes_per_second(self) -> float | None:
        """The pace of the last seconds; None while nothing tells."""
        (start, before), (now, votes) = self._marks[0], self._marks[-1]
        return (votes - before) / (now - start) if now > start and votes > before else None

    def seconds(self, under_way: Sequence[tuple[int, int]]) -> float | None:
        """Return the seconds that are left; None while nothing tells.

        Args:
            under_way: of each image that is begun and not decided, votes for its leading class and votes drawn.
        """
        (start, before), (now, votes) = self._marks[0], self._marks[-1]
        begun = self._decided + len(under_way)
        if now <= start or votes <= before or not begun:
            return None
        leading, drawn = np.array(under_way, dtype=np.float64).reshape(-1, 2).T
        left = self._expected_left(leading, drawn).sum()
        mean = (self._decided_votes + drawn.sum() + left) / begun
        return float((left + (self._images - begun) * mean) * (now - start) / (votes - before))

    def _expected_left(self, leading: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the votes that each image may still take, given that it is not decided yet.

        Rather too much than too little: the few images at the very threshold of a radius weigh heavily in a mean.
        """
        logs = special.xlogy(leading[:, None], _CHANCES) + special.xlogy(
            (drawn - leading)[:, None], 1 - _CHANCES
        )
        likely = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        beyond = self._costs - drawn[:, None, None]
        more = (likely * np.maximum(beyond, 0).mean(axis=2)).sum(axis=1)
        still = (likely * (beyond > 0).mean(axis=2)).sum(axis=1)
        # Beyond all that was simulated it must be nearly decided.
        return np.where(still > 0, more / np.where(still > 0, still, 1), CHUNK_VOTES)

    @cached_property
    def _costs(self) -> NDArray[np.int64]:
        """Votes of made-up images, by probability of the leading class and course."""
        votes = self._plan.simulated_votes(np.repeat(_CHANCES, _PATHS), np.random.default_rng(0))
        return votes.reshape(len(_CHANCES), _PATHS)
