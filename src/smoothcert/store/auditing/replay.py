"""A certificate made once more from stored votes: the same looks, the same decision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Plan, Tally
from smoothcert.certificates.certificate import Verdict
from smoothcert.sampling import Counts, no_class, tallied
from smoothcert.store.auditing.stored import StoredImage

_TOLERANCE = 1e-9  # relative; another release of SciPy may round a bound differently
Ballots = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Replay:
    """Walks stored votes through a plan, as the run once did.

    Args:
        plan: the manifest's procedure, bound to its noise and alpha.
        num_classes: the manifest's number of classes.
    """

    plan: Plan
    num_classes: int

    @cached_property
    def look_number(self) -> dict[tuple[str, int], int]:
        """Global number of each look by (phase, votes of that phase)."""
        looks = ((phase.name, int(n)) for phase in self.plan.phases for n in phase.looks)
        return {look: number for number, look in enumerate(looks)}

    def differences(self, image: StoredImage) -> Iterator[str]:
        """Yield what differs between an image's stored certificate and the one its votes give."""
        try:
            tallies, ballots = image.tallies(), image.ballots(self.num_classes)
        except (TypeError, ValueError) as error:
            yield f"its counts or votes cannot be read: {error}"
            return
        if any(tally.counts.votes.shape != (self.num_classes,) for tally in tallies):
            yield f"its counts are not of {self.num_classes} classes"
            return
        if [row[1] for row in image.counts] != list(range(len(image.counts))):
            yield "its counts are not numbered from 0"  # readers go by these numbers
        yield from self._other_counts(tallies, ballots)
        looks = self._every_look(ballots) if ballots else self._stored_looks(tallies)
        trial, last = self.plan.start(), None
        for number, phase, counts in looks:
            if last is not None:
                yield "there are votes beyond the look that decided"
                return
            if trial.absorb(number, counts):
                last = (phase, counts.drawn)
        if last is None:
            yield "its votes end before anything is decided"
            return
        samples = self._samples(*last)
        if ballots and sum(map(len, ballots.values())) != samples:
            yield f"{sum(map(len, ballots.values())):,} votes are stored, but it was decided after {samples:,}"
        yield from self._other_verdict(image, tallies, trial.verdict(), samples)

    def _other_counts(self, tallies: tuple[Tally, ...], ballots: Ballots) -> Iterator[str]:
        """Yield where counts are not at a planned look, or not the sum of the stored votes."""
        for tally in tallies:
            drawn, phase = tally.counts.drawn, tally.phase
            if (phase, drawn) not in self.look_number:
                yield f"the procedure never looks at {drawn:,} votes of {phase!r}"
            elif ballots:
                cast = ballots.get(phase, np.zeros(0, dtype=np.uint8))[:drawn]
                if len(cast) < drawn or not np.array_equal(
                    tallied(cast, self.num_classes), tally.counts.votes
                ):
                    yield f"the counts after {drawn:,} votes of {phase!r} are not those of the stored votes"
        for phase, cast in ballots.items():
            unknown = (cast >= self.num_classes) & (cast != no_class(self.num_classes))
            if unknown.any():
                yield f"votes of {phase!r} are for classes that do not exist"

    def _every_look(self, ballots: Ballots) -> Iterator[tuple[int, str, Counts]]:
        for phase in self.plan.phases:
            cast, seen = ballots.get(phase.name, np.zeros(0, dtype=np.uint8)), 0
            votes = np.zeros(self.num_classes, dtype=np.int64)
            for n in map(int, phase.looks):
                if n > len(cast):
                    return
                votes = votes + tallied(cast[seen:n], self.num_classes)
                seen = n
                yield self.look_number[phase.name, n], phase.name, Counts(votes, n)

    def _stored_looks(self, tallies: tuple[Tally, ...]) -> Iterator[tuple[int, str, Counts]]:
        """Yield the deciding looks alone: at the others nothing was decided, and nothing is stored."""
        looks = {(tally.phase, tally.counts.drawn): tally.counts for tally in tallies}
        for (phase, drawn), counts in looks.items():
            if (phase, drawn) in self.look_number:
                yield self.look_number[phase, drawn], phase, Counts(counts.votes, drawn)

    def _samples(self, phase: str, drawn: int) -> int:
        names = [one.name for one in self.plan.phases]
        return sum(one.votes for one in self.plan.phases[: names.index(phase)]) + drawn

    def _other_verdict(
        self, image: StoredImage, tallies: tuple[Tally, ...], verdict: Verdict, samples: int
    ) -> Iterator[str]:
        _, _, outcome, predicted, radius, p_lower, stored_samples, evaluations, seconds = image.certificate
        if not 0 <= seconds < math.inf:
            yield f"it is stored to have taken {seconds!r} seconds"
        if outcome != verdict.outcome.name:
            yield f"it is stored as {outcome}, but its votes give {verdict.outcome.name}"
        if predicted != verdict.predicted:
            yield f"the stored class is {predicted}, but its votes give {verdict.predicted}"
        for name, stored, found in (
            ("radius", radius, verdict.radius),
            ("p_lower", p_lower, verdict.p_lower),
        ):
            if not math.isclose(stored, found, rel_tol=_TOLERANCE, abs_tol=1e-15):
                yield f"the stored {name} is {stored}, but its votes give {found}"
        if stored_samples != samples:
            yield f"{stored_samples:,} votes are stored as drawn, but it was decided after {samples:,}"
        if [_plain(tally) for tally in tallies] != [_plain(tally) for tally in verdict.tallies]:
            yield "the stored looks are not those at which its votes decide"
        last = {tally.phase: tally.counts.evaluations for tally in tallies}
        if set(last) == set(self._phases_until(tallies)) and sum(last.values()) != evaluations:
            yield f"{evaluations:,} evaluations are stored, but its counts cost {sum(last.values()):,}"

    def _phases_until(self, tallies: tuple[Tally, ...]) -> list[str]:
        """Return the phases up to the last one with counts; an undecided stage leaves none."""
        names = [phase.name for phase in self.plan.phases]
        return names[: names.index(tallies[-1].phase) + 1] if tallies and tallies[-1].phase in names else []


def _plain(tally: Tally) -> tuple[Any, ...]:
    return (tally.phase, tally.purpose, tally.radius, tally.counts.drawn, tally.counts.votes.tolist())
