"""What "auto" takes: the engine that costs nothing to make for small jobs, the fastest one for long jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from smoothcert.arguments import usable_cores
from smoothcert.engines.choice import Choice
from smoothcert.engines.engine import Engine, name_on
from smoothcert.engines.onnx_export import each_exported_once
from smoothcert.engines.resolve import build_engine, candidates, proven_engine
from smoothcert.engines.stopwatch import seconds_per_vote
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.workload import Workload, rows_in_cache
from smoothcert.networks import precision_of
from smoothcert.noise import NoiseLaw

_SETUP_SHARE = 0.1  # of the time planned, that making one engine may take
_TIMING_SHARE = 0.05  # of the time planned, that measuring all of them may take
_ROUNDS, _FIRST_ROUNDS = 5, 2  # passes of all engines in turn, and before that of the plain one alone
_CLEARLY = 0.95  # of the plain engine's time: where two are as good, chance should not choose


def choose_engine(
    workload: Workload, num_classes: int, noise: NoiseLaw, known: Choice | None = None
) -> tuple[Choice, Engine | None]:
    """Return which engine to take for a job, and the engine itself where it was made on the way.

    The plain one, whose making costs nothing, unless the votes planned take so long that making others is worth it;
    then those of them that agree with the model are measured, and the fastest is taken. Small jobs are told by
    counting operations, and no clock is read. Nor is one for a network below float32: engines round it at other
    places, so that each is another classifier, and the network says which one runs it.

    Args:
        workload: the job.
        num_classes: classes that every answer must have.
        noise: law of the noise that the votes will be drawn under.
        known: an earlier choice about the same model, noise and shape of images; it stands, also for a smaller job,
            unless this one is long enough to try more engines.
    """
    plain, *others = setup = candidates(workload)
    if known is None:
        known = Choice(name_on(plain, workload.device))
    rivals = {} if precision_of(workload.model) else {name: setup[name] for name in others}
    race = _Race(workload, num_classes, noise, plain, rivals)
    if known.looked_at.issuperset(race.worth_making(known)):
        return known, None
    if plain not in known.costs:
        known = race.with_plain_measured(known)
    wanted = race.worth_making(known) if known.costs else []
    if not known.looked_at.issuperset(wanted):
        known = race.won_among(wanted, known)
    return known, race.engines.get(known.name)


@dataclass
class _Race:
    """Engines of one model, made and measured as far as the votes planned are worth it.

    Args:
        workload: the job.
        num_classes: classes that every answer must have.
        noise: law of the noise.
        plain: the engine that costs nothing to make.
        rivals: seconds that making each of the others takes.
        engines: those made so far.
    """

    workload: Workload
    num_classes: int
    noise: NoiseLaw
    plain: str
    rivals: Mapping[str, float]
    engines: dict[str, Engine] = field(default_factory=dict)

    def worth_making(self, known: Choice) -> list[str]:
        """Return the rivals whose making and measuring is a small part of the time that all votes take on all cores.

        How long that is follows from what the plain engine was measured to cost; before that, from the operations.
        """
        if self._rounds(1 + len(self.rivals)) < 1:
            return []
        cost = known.costs.get(self.plain)
        seconds = self.workload.most_seconds if cost is None else cost * self.workload.votes
        planned = seconds / usable_cores()
        return [name for name, setup in self.rivals.items() if setup <= _SETUP_SHARE * planned]

    def with_plain_measured(self, known: Choice) -> Choice:
        """Make the plain engine and return what is known with its cost; without it where the model raises."""
        self._make_plain()
        return replace(known, costs=self._costs(_FIRST_ROUNDS))

    def won_among(self, rivals: list[str], known: Choice) -> Choice:
        """Make rivals and measure them beside the plain engine; return the fastest of those that can run the model."""
        refused = {}
        self._make_plain()
        with each_exported_once():
            for name in rivals:
                try:
                    self.engines[name] = self._proven(name)
                except EngineUnavailableError as error:
                    refused[name] = str(error)
        costs = self._costs(self._rounds(len(self.engines))) or known.costs
        best = min(costs, key=costs.__getitem__)
        name = best if costs[best] < _CLEARLY * costs[self.plain] else self.plain
        return Choice(name, costs, refused)

    def _make_plain(self) -> None:
        job = self.workload
        if self.plain not in self.engines:
            made = build_engine(self.plain, job.model, self.num_classes, job.example, self.noise)
            self.engines[self.plain] = made

    def _proven(self, name: str) -> Engine:
        job = self.workload
        return proven_engine(name, job.model, self.num_classes, job.example, self.noise)

    def _rounds(self, number: int) -> int:
        """Return how often so many engines can be measured in their share of the votes; below 1 for not at all."""
        rows = rows_in_cache(self.workload.example)
        passes = int(_TIMING_SHARE * self.workload.votes / usable_cores() / rows)
        return min(_ROUNDS, (passes - (1 + _FIRST_ROUNDS)) // number - 1)

    def _costs(self, rounds: int) -> dict[str, float]:
        """Return what the engines made so far cost per vote; nothing where the model raises."""
        try:
            return seconds_per_vote(self.engines, self.noise, rounds)
        except Exception:  # the model's own code; the probe will name the trouble with the image
            return {}
