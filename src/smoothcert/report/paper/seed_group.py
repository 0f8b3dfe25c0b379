"""One run, or several that differ in seeds and weights alone: means and standard deviations over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.certificates import Reach, Reading, Results
from smoothcert.report.summary import Summary

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SeedGroup:
    """One run, or several that differ in seeds and weights alone.

    Not one certified classifier: a mean over seeds says what a training gives on average.

    Args:
        name: to show.
        members: summaries of the runs, at least one.
    """

    name: str
    members: tuple[Summary, ...]

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(self.members)

    @cached_property
    def reach(self) -> Reach:
        """Which radii it can speak of: those of the run that reaches farthest."""
        return max((one.reach for one in self.members), key=_largest)

    @property
    def acrs(self) -> Floats:
        """Average certified radius of each run, in pixel units."""
        return np.array([one.acr for one in self.members])

    @property
    def abstained(self) -> Floats:
        """Share of images without a class, of each run."""
        return np.array([one.abstained for one in self.members])

    @property
    def votes(self) -> Floats | None:
        """Mean votes per image of each run; None where one of them does not tell."""
        means = [one.votes_per_image for one in self.members if one.votes_per_image is not None]
        return np.array(means) if len(means) == self.seeds else None

    def shares(self, radii: ArrayLike) -> Floats:
        """Return certified accuracy of each run at radii, (runs, radii)."""
        return np.stack([one.results.certified_accuracy(radii) for one in self.members])

    def certified_accuracy(self, radii: ArrayLike) -> Floats:
        """Return the mean over runs at each radius, in pixel units."""
        return np.asarray(self.shares(radii).mean(axis=0), dtype=np.float64)

    def read(self, radii: ArrayLike) -> Reading:
        """Return the mean over runs at radii, with what is to be said of it."""
        return self.reach.read(self, radii)

    @cached_property
    def pooled(self) -> Summary:
        """The images of all its runs together, as one summary, for what is counted image by image."""
        first, parts = self.members[0], [one.results for one in self.members]
        return replace(
            first,
            name=self.name,
            results=Results(*(np.concatenate(column) for column in zip(*map(_columns, parts), strict=True))),
            p_hat=_joined([one.p_hat for one in self.members]),
            samples=_joined([one.samples for one in self.members]),
            evaluations=_joined([one.evaluations for one in self.members]),
            run=None,
        )

    @property
    def about(self) -> str:
        """What its standard deviations are over, in words."""
        models = {one.manifest.get("model") for one in self.members}
        if None in models:
            return f"{self.seeds} logs"
        return (
            f"{self.seeds} models"
            if len(models) == self.seeds
            else f"{self.seeds} runs of {len(models)} model(s), so that it is noise of certification, in part or alone"
        )


def deviation(values: Floats, axis: int = 0) -> Floats:
    """Return the standard deviation of a sample (n - 1 below), along the axis of runs; NaN of a single run."""
    if values.shape[axis] < 2:
        return np.full(np.delete(values.shape, axis), np.nan)
    return np.asarray(values.std(axis=axis, ddof=1), dtype=np.float64)


def _columns(results: Results) -> tuple[NDArray[Any], ...]:
    return results.index, results.label, results.predicted, results.radius


def _joined(columns: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None


def _largest(reach: Reach) -> float:
    return -1.0 if reach.largest is None else reach.largest
