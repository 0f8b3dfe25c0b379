"""Drawing pilot votes against the clock, with the workers, batches and mixing of a run."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Certification, Plan
from smoothcert.execution.pilot import Pilot, deepened, first_votes
from smoothcert.execution.runner import ImageSource
from smoothcert.progress import Progress
from smoothcert.sampling import Counts, Decision, ImageSampling, Phase

_FEWEST_IMAGES = 32  # tried even where that takes longer than asked for ..
_LONGER = 5  # .. but not this many times longer
_SLICES = 6
_SPREAD = 2.5  # between the mean pace and the slowest or fastest one that is believed


@dataclass(frozen=True)
class Speed:
    """Votes per second of some workers together: over their part of a trial, and in its slowest and fastest slice."""

    workers: int
    mean: float
    slowest: float
    fastest: float


class Trial:
    """Tries some images of a run, chosen by lot, and watches the clock. Nothing is certified.

    Args:
        certification: classifier, noise and procedure of the run.
        source: where images come from.
        indices: images of the run.
        batch_size: rows per forward pass, as in the run.
        plan: what the votes are to tell the cost of.
        show: told how many seconds have passed.
    """

    def __init__(
        self,
        certification: Certification,
        source: ImageSource,
        indices: Sequence[int],
        batch_size: int,
        plan: Plan,
        show: Progress,
    ) -> None:
        self.certification, self.source, self.batch_size = certification, source, batch_size
        self.plan, self.votes, self.show = plan, first_votes(plan), show
        # The same lot every time: another trial of the same run tries the same images.
        self.order = [indices[place] for place in np.random.default_rng(0).permutation(len(indices))]
        self.counts: list[NDArray[np.int64]] = []
        self._begin = time.monotonic()

    def with_other(self, certification: Certification) -> Trial:
        """Return a trial of the same images by another engine, say, for the clock alone."""
        return Trial(certification, self.source, self.order, self.batch_size, self.plan, self.show)

    def speed(self, workers: int, seconds: float) -> Speed:
        """Try further images for some seconds, or the first ones again, to see how fast some workers are."""
        begin = time.monotonic()
        fresh = self._places(len(self.counts), begin, seconds, enough=0)
        tried, ticks = self._drawn(fresh, workers, self.votes, "pilot-0")
        self.counts += [tried[place] for place in sorted(tried)]
        if len(tried) < 2 * _SLICES:  # all were tried before: their votes again, for the clock alone
            again = self._places(0, time.monotonic(), seconds, enough=0)
            _, ticks = self._drawn(again, workers, self.votes, "pilot-0")
        return _speed(workers, ticks, self.votes)

    def pilot(self, speed: Speed, seconds: float) -> Pilot:
        """Try further images for some seconds, then draw more votes of the costly ones in what is left of the time."""
        begin = time.monotonic()
        places = self._places(len(self.counts), begin, seconds, enough=_FEWEST_IMAGES)
        tried, _ = self._drawn(places, speed.workers, self.votes, "pilot-0")
        self.counts += [tried[place] for place in sorted(tried)]

        def draw(chosen: Sequence[int], votes: int, number: int) -> NDArray[np.int64]:
            more, _ = self._drawn(chosen, speed.workers, votes, f"pilot-{number}")
            return np.array([more[place] for place in chosen])

        def votes_left() -> float:
            return speed.mean * (seconds - (time.monotonic() - begin))

        return deepened(np.array(self.counts), self.votes, len(self.order), self.plan, draw, votes_left)

    def _places(self, first: int, begin: float, seconds: float, *, enough: int) -> Iterator[int]:
        """Yield places of images until the time is up; every image costs the same, so none is avoided by that."""
        for place in range(first, len(self.order)):
            passed = time.monotonic() - begin
            if place > first and passed >= seconds and (place >= enough or passed >= _LONGER * seconds):
                return
            yield place

    def _drawn(
        self, places: Iterable[int], workers: int, votes: int, phase: str
    ) -> tuple[dict[int, NDArray[np.int64]], list[float]]:
        """Return votes by place, and when each image was done, after the time of the begin."""
        source, place_of = self.certification, dict[int, int]()

        def samplings() -> Iterator[ImageSampling[NDArray[np.int64]]]:
            for place in places:
                index = self.order[place]
                place_of[index] = place
                image, phases = self.source.image(index), (Phase(phase, (votes,)),)
                yield ImageSampling(index, image, phases, _Counted(), source.engine.num_classes)

        counts, ticks = dict[int, NDArray[np.int64]](), [time.monotonic()]

        def on_decided(sampling: ImageSampling[NDArray[np.int64]]) -> None:
            counts[place_of[sampling.index]] = sampling.decision.verdict()
            ticks.append(time.monotonic())
            self.show(int(ticks[-1] - self._begin), f"{len(self.counts) or len(counts)} images tried")

        pool = source.workers_here(workers, self.batch_size)
        source.draw(samplings(), pool, batch_size=self.batch_size, on_decided=on_decided)
        return counts, ticks


class _Counted(Decision[NDArray[np.int64]]):
    """Keeps the votes and is content with them."""

    votes: NDArray[np.int64]

    def absorb(self, look: int, counts: Counts) -> bool:
        self.votes = counts.votes
        return True

    def verdict(self) -> NDArray[np.int64]:
        return self.votes


def _speed(workers: int, ticks: Sequence[float], votes: int) -> Speed:
    """Return votes per second from the times at which images were done, the first of which is the begin."""
    # What was done in the first tenth of the time also warmed up.
    end = ticks[0] + (ticks[-1] - ticks[0]) / 10
    warm = next(place for place, tick in enumerate(ticks) if place and tick >= end)
    # Few images may all be done at once, at the end: then there is nothing to leave out.
    late = ticks[-1] - ticks[warm] < (ticks[-1] - ticks[0]) / 2
    kept = ticks if late or len(ticks) - warm <= _SLICES else ticks[warm:]
    borders = np.linspace(0, len(kept) - 1, _SLICES + 1).round().astype(int)
    pieces = [(b - a, kept[b] - kept[a]) for a, b in itertools.pairwise(borders) if b > a]
    # Images are done in bunches, whole batches at a time, so a slice may seem to take no time at all.
    rates = [votes * done / seconds for done, seconds in pieces if seconds > 0]
    mean = votes * (len(kept) - 1) / max(kept[-1] - kept[0], 1e-9)
    # For the same reason a slice may seem fifty times as fast as the machine is.
    slowest, fastest = max(min([mean, *rates]), mean / _SPREAD), min(max([mean, *rates]), mean * _SPREAD)
    return Speed(workers, mean, slowest, fastest)
