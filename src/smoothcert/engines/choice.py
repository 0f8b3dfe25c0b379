"""Which engine "auto" takes, and the figures that this rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choice:
    """An engine taken by "auto", with what it and its rivals were measured to cost.

    Not part of a run's identity: of all this, votes depend on the name alone.

    Args:
        name: of the engine, as certificates say it.
        costs: seconds of one core per vote, by engine; none where none was measured.
        refused: why rivals were not measured though the job is long enough, by engine.
    """

    name: str
    costs: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def looked_at(self) -> frozenset[str]:
        """Engines that were measured or refused: a job for which no other one is worth making needs no new choice."""
        return frozenset((*self.costs, *self.refused))

    def reason(self) -> str:
        """Return why it was taken, in words."""
        if self.name not in self.costs:
            return "no other is worth trying for so few votes"
        own = f"{shown(self.costs[self.name])} per vote and core"
        rivals = [f"{name} {shown(cost)}" for name, cost in self.costs.items() if name != self.name]
        rivals += [f"{name} cannot run it ({why})" for name, why in self.refused.items()]
        return f"{own}; {', '.join(rivals) or 'no other is worth making for so few votes'}"


def shown(seconds: float) -> str:
    """Return a time per vote as a reader would say it: 47 µs, 1.23 ms."""
    return f"{seconds * 1e6:.0f} µs" if seconds < 9.995e-4 else f"{seconds * 1e3:.3g} ms"
