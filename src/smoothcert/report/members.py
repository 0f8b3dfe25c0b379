"""The members of an ensemble as a background to compare it with: their upper envelope and their average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.radii import named_radii, radius_grid, radius_key
from smoothcert.report.summary import Summary

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MembersCurve:
    """A curve made of the certified accuracies of several members, radius by radius.

    Not the accuracy of any classifier: the envelope takes at each radius the member that is best there, which nobody
    could choose beforehand.

    Args:
        name: what it is, in words.
        members: the members' summaries.
        ensemble: the summary that names them.
        reduce: from accuracies (members, radii) to one curve.
        is_envelope: True if it takes the best member everywhere, so that the area below it is nobody's ACR.
    """

    name: str
    members: tuple[Summary, ...]
    ensemble: Summary
    reduce: Callable[[Floats], Floats]
    is_envelope: bool = False

    def certified_accuracy(self, radii: ArrayLike) -> Floats:
        """Return the curve at radii, in pixel units."""
        return self.reduce(np.stack([member.results.certified_accuracy(radii) for member in self.members]))

    def average_radius(self) -> float:
        """Return the members' ACR, reduced like their accuracies: of the envelope the best one, as in papers."""
        return float(self.reduce(np.array([[one.results.average_radius()] for one in self.members]))[0])

    def area(self) -> float:
        """Return the area under the curve; of an envelope at least the best member's ACR, and no classifier's."""
        ends = np.unique(np.concatenate([member.results.radius for member in self.members]))
        ends = ends[ends > 0]
        return float(np.sum(np.diff(ends, prepend=0.0) * self.certified_accuracy(ends)))

    def to_json(self, radii: Sequence[float]) -> dict[str, Any]:
        """Return plain values; keys and nulls of certified accuracy as in `Summary.to_json`."""
        told = self.ensemble.reach.read(self, radii).told
        return {
            "acr": self.average_radius(),
            "area_under_curve": self.area(),
            "certified_accuracy": dict(zip(map(radius_key, radii), told, strict=True)),
        }


def members_of(summary: Summary, summaries: Sequence[Summary]) -> tuple[Summary, ...]:
    """Return the summaries of all members of an ensemble, under the same settings; none if one is missing."""
    wanted = summary.manifest.get("ensemble", {}).get("members", ())
    if not wanted:
        return ()
    by_model = {
        other.manifest["model"]: other
        for other in summaries
        if other.manifest and run_setting(other) == run_setting(summary)
    }
    return tuple(by_model[model] for model in wanted) if all(model in by_model for model in wanted) else ()


def member_curves(summaries: Sequence[Summary]) -> Iterator[MembersCurve]:
    """Yield upper envelope and average for every set of members whose ensemble is among the summaries too."""
    seen: set[tuple[Any, ...]] = set()
    for summary in summaries:
        members = members_of(summary, summaries)
        if len(members) < 2:
            continue
        key = (frozenset(member.manifest["model"] for member in members), run_setting(summary))
        if key in seen:
            continue
        seen.add(key)
        yield from curves_of(summary, members)


def members_to_json(
    summary: Summary, summaries: Sequence[Summary], radii: ArrayLike | None = None
) -> dict[str, Any] | None:
    """Return upper envelope and average of an ensemble's members as plain values; None without its members.

    Args:
        summary: of the ensemble.
        summaries: among which its members are looked for.
        radii: where to read certified accuracy; steps of .25 up to the largest radius by default.
    """
    members = members_of(summary, summaries)
    if len(members) < 2:
        return None
    grid = radius_grid(max(member.largest_radius for member in members)) if radii is None else radii
    read_at = np.unique(named_radii(grid)).tolist()
    envelope, average = curves_of(summary, members)
    return {"upper_envelope": envelope.to_json(read_at), "average": average.to_json(read_at)}


def curves_of(ensemble: Summary, members: Sequence[Summary]) -> tuple[MembersCurve, MembersCurve]:
    """Return upper envelope and average of an ensemble's members."""
    count, all_of = len(members), tuple(members)
    best = MembersCurve(
        f"envelope of {count}", all_of, ensemble, lambda s: np.max(s, axis=0), is_envelope=True
    )
    return best, MembersCurve(f"average of {count}", all_of, ensemble, lambda s: np.mean(s, axis=0))


def run_setting(summary: Summary) -> tuple[Any, ...]:
    """Return what two runs must share to be compared radius by radius."""
    manifest = summary.manifest
    return (
        manifest["dataset"]["digest"],
        tuple(summary.results.index.tolist()),
        *(repr(manifest[field]) for field in ("noise", "norm", "procedure", "alpha")),
    )
