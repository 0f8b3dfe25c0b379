"""A certificate made once more from stored votes: the same looks, the same decision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Plan, Tally, Verdict
from smoothcert.sampling import Counts, no_class, tallied
from smoothcert.workflows.auditing.stored import StoredImage

_TOLERANCE = 1e-9  # relative; another release of SciPy may round a bound differently
_NONE = np.zeros(0, dtype=np.uint8)
Log = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Replay:
    """Walks stored votes through a plan, as the run once did.

    Args:
        plan: the manifest's procedure, bound to its noise and alpha.
        num_classes: the manifest's number of classes.
        stopped: told the images whose votes end at a look that did not decide, by a plan that holds there too.
    """

    plan: Plan
    num_classes: int
    stopped: list[int] = field(default_factory=list)

    @cached_property
    def look_number(self) -> dict[tuple[str, int], int]:
        """Global number of each look by (phase, votes of that phase)."""
        looks = ((phase.name, int(n)) for phase in self.plan.phases for n in phase.looks)
        return {look: number for number, look in enumerate(looks)}

    @cached_property
    def most_votes(self) -> dict[str, int]:
        """Votes that each phase can have at most."""
        return {phase.name: phase.votes for phase in self.plan.phases}

    def differences(self, image: StoredImage, tallies: Sequence[Tally], log: Log) -> Iterator[str]:
        """Yield what differs between an image's stored certificate and the one its votes give.

        Args:
            image: its rows, of the right kinds.
            tallies: its counts.
            log: its votes by phase, of phases that the plan has.
        """
        if [row.position for row in image.counts] != list(range(len(image.counts))):
            yield "its counts are not numbered from 0"  # readers go by these numbers
        yield from self._other_counts(tallies, log)
        decision, last, seen = self.plan.start(), None, ("", 0)
        for number, phase, counts in self._every_look(log):
            if last is not None:
                yield "there are votes beyond the look that decided"
                return
            seen = (phase, counts.drawn)
            if decision.absorb(number, counts):
                last = seen
        verdict = decision.so_far() if last is None else decision.verdict()
        if verdict is None:
            yield "its votes end before anything is decided"
            return
        if last is None:
            last = seen
            self.stopped.append(image.index)
        samples = self._samples(*last)
        if sum(map(len, log.values())) != samples:
            yield f"{sum(map(len, log.values())):,} votes are stored, but it was decided after {samples:,}"
        for phase in sorted(set(log) - set(self._phases_until(last[0]))):
            yield f"there are votes of {phase!r}, but it was decided in {last[0]!r} before"
        yield from self._other_verdict(image, tallies, verdict, samples)

    def differences_from_counts(self, image: StoredImage, tallies: Sequence[Tally]) -> Iterator[str]:
        """Yield what differs between a certificate and the one that its counts at deciding looks give.

        For runs without their votes: counts are believed. Looks between them are taken to have decided nothing, on
        which no certificate rests.

        Args:
            image: its rows, of the right kinds.
            tallies: its counts.
        """
        decision, last, number, is_over = self.plan.start(), ("", 0), -1, False
        for tally in tallies:
            look = tally.phase, tally.counts.drawn
            if look == last:  # which proved several radii
                continue
            place = self.look_number.get(look)
            if place is None or place <= number or is_over:
                yield f"the procedure does not look at {look[1]:,} votes of {look[0]!r} there"
                return
            last, number, is_over = look, place, decision.absorb(place, tally.counts)
        if not is_over:
            yield "its counts end before anything is decided"
            return
        yield from self._other_verdict(image, tallies, decision.verdict(), self._samples(*last))

    def unanswered(self, log: Log) -> int:
        """Return how many votes went to no class."""
        return sum(int((cast == no_class(self.num_classes)).sum()) for cast in log.values())

    def _other_counts(self, tallies: Sequence[Tally], log: Log) -> Iterator[str]:
        """Yield where counts are not at a planned look, or not the sum of the stored votes."""
        for tally in tallies:
            drawn, phase = tally.counts.drawn, tally.phase
            if (phase, drawn) not in self.look_number:
                yield f"the procedure never looks at {drawn:,} votes of {phase!r}"
                continue
            cast = log.get(phase, _NONE)[:drawn]
            if len(cast) < drawn or not np.array_equal(tallied(cast, self.num_classes), tally.counts.votes):
                yield f"the counts after {drawn:,} votes of {phase!r} are not those of the stored votes"
        for phase, cast in log.items():
            unknown = (cast >= self.num_classes) & (cast != no_class(self.num_classes))
            if unknown.any():
                yield f"votes of {phase!r} are for classes that do not exist"

    def _every_look(self, log: Log) -> Iterator[tuple[int, str, Counts]]:
        for phase in self.plan.phases:
            cast, seen = log.get(phase.name, _NONE), 0
            votes = np.zeros(self.num_classes, dtype=np.int64)
            for n in map(int, phase.looks):
                if n > len(cast):
                    return
                votes = votes + tallied(cast[seen:n], self.num_classes)
                seen = n
                yield self.look_number[phase.name, n], phase.name, Counts(votes, n)

    def _samples(self, phase: str, drawn: int) -> int:
        return sum(self.most_votes[before] for before in self._phases_until(phase)[:-1]) + drawn

    def _other_verdict(
        self, image: StoredImage, tallies: Sequence[Tally], verdict: Verdict, samples: int
    ) -> Iterator[str]:
        row = image.certificate
        if row.outcome != verdict.outcome.name:
            yield f"it is stored as {row.outcome}, but its votes give {verdict.outcome.name}"
        if row.predicted != verdict.predicted:
            yield f"the stored class is {row.predicted}, but its votes give {verdict.predicted}"
        for name, stored, given in (
            ("radius", row.radius, verdict.radius),
            ("p_lower", row.p_lower, verdict.p_lower),
        ):
            if not math.isclose(stored, given, rel_tol=_TOLERANCE, abs_tol=1e-15):
                yield f"the stored {name} is {stored}, but its votes give {given}"
        if row.samples != samples:
            yield f"{row.samples:,} votes are stored as drawn, but it was decided after {samples:,}"
        if [_plain(tally) for tally in tallies] != [_plain(tally) for tally in verdict.tallies]:
            yield "the stored looks are not those at which its votes decide"
            return
        last = {tally.phase: tally.counts.evaluations for tally in tallies}  # an undecided stage leaves none
        if set(last) == set(self._phases_until(tallies[-1].phase)) and sum(last.values()) != row.evaluations:
            yield f"{row.evaluations:,} evaluations are stored, but its counts cost {sum(last.values()):,}"

    def _phases_until(self, phase: str) -> list[str]:
        """Return the phases up to one of them, in the plan's order."""
        names = list(self.most_votes)
        return names[: names.index(phase) + 1]


def _plain(tally: Tally) -> tuple[Any, ...]:
    return (tally.phase, tally.purpose, tally.radius, tally.counts.drawn, tally.counts.votes.tolist())
