"""One row of a paper's table: what was published, and what was made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Reading
from smoothcert.radii import radius_key
from smoothcert.report.mean_interval import mean_interval
from smoothcert.report.summary import CONFIDENCE, Summary


@dataclass(frozen=True)
class Published:
    """What a paper prints for one row.

    Args:
        acr: average certified radius; None where it prints none.
        accuracy: certified accuracy by radius, as fractions.
        figures: other figures by their names in `FIGURES`.
        over_seeds: mean and standard deviation of ACR over trainings, where a paper gives them.
        on_these_images: the same read off released certificates of the very images that were certified here, where
            there are such.
    """

    acr: float | None = None
    accuracy: Mapping[float, float] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    over_seeds: tuple[float, float] | None = None
    on_these_images: Published | None = None

    def acr_on(self, radii: Sequence[float]) -> float | None:
        """Return the mean of the largest of these radii that was certified; None where an accuracy is unknown.

        Args:
            radii: increasing, in pixel units.
        """
        if not set(radii) <= set(self.accuracy):
            return None
        return _mean_largest(radii, [self.accuracy[radius] for radius in radii])


@dataclass(frozen=True)
class ReproducedRow:
    """A published row with the certificates that were made for it.

    Args:
        name: in its table.
        label: what the paper calls it.
        tables: of the paper, in which it stands.
        published: the paper's figures.
        runs: the certificates; several for an upper envelope, which takes the best at each radius.
        figures: own figures by their names in `FIGURES`, None where there is none.
        is_envelope: whether it is the upper envelope of the runs, and no classifier.
    """

    name: str
    label: str
    tables: tuple[str, ...]
    published: Published
    runs: tuple[Summary, ...]
    figures: Mapping[str, float | None] = field(default_factory=dict)
    is_envelope: bool = False

    @property
    def summary(self) -> Summary:
        """Its certificates; of an envelope those of the run with the largest ACR."""
        return max(self.runs, key=lambda one: one.acr)

    @property
    def acr(self) -> float:
        """Own average certified radius; of an envelope that of its curve on a grid, and else of its best run."""
        if self.is_envelope and self.is_on_grid:
            radii = self.summary.asked or ()
            return _mean_largest(radii, self.read(np.asarray(radii)).shares.tolist())
        return self.summary.acr

    @property
    def has_acr(self) -> bool:
        """Whether its ACR is one, and not the share of a single radius times that radius."""
        return self.summary.asked is None or self.is_on_grid

    @property
    def published_acr(self) -> float | None:
        """The published ACR in the form of the own one: on a grid, that of the published accuracies at its radii."""
        if not self.has_acr:
            return None
        return self.published.acr_on(self.summary.asked or ()) if self.is_on_grid else self.published.acr

    @property
    def is_on_grid(self) -> bool:
        """Whether several radii were asked about and no others, so that its ACR is a mean of these."""
        return len(self.summary.asked or ()) > 1

    @property
    def acr_interval(self) -> tuple[float, float] | None:
        """Approximate 95% interval over images; None for an envelope, whose best run was chosen by these images."""
        found = self.summary.results
        radii = np.where(found.correct, found.radius, 0.0)
        return None if self.is_envelope else mean_interval(radii, 1 - CONFIDENCE)

    def read(self, radii: NDArray[np.float64]) -> Reading:
        """Return own certified accuracy at radii, with what is to be said of it."""
        readings = [one.read(radii) for one in self.runs]
        best = np.max([reading.shares for reading in readings], axis=0)
        return Reading(radii, best, readings[0].notes)

    def accuracy_interval(self, radii: NDArray[np.float64]) -> list[tuple[float, float] | None]:
        """Return exact 95% intervals over images; None for an envelope, and where a run cannot speak of a radius."""
        low, high = self.summary.results.certified_accuracy_interval(radii, CONFIDENCE)
        notes = self.read(radii).notes
        return [
            None if self.is_envelope or note is not None else (float(a), float(b))
            for a, b, note in zip(low, high, notes, strict=True)
        ]

    def to_json(self, radii: Sequence[float]) -> dict[str, Any]:
        """Return plain values, unrounded, fractions as fractions."""
        grid = np.asarray(radii, dtype=np.float64)
        own = dict(zip(map(radius_key, radii), self.read(grid).told, strict=True))
        log = self.published.on_these_images
        ends = dict(zip(map(radius_key, radii), self.accuracy_interval(grid), strict=True))
        return {
            "name": self.name,
            "label": self.label,
            "tables": list(self.tables),
            "published": {
                "acr": self.published.acr,
                "acr_on_grid": self.published.acr_on(radii) if self.is_on_grid else None,
                "acr_over_seeds": self.published.over_seeds,
                "certified_accuracy": {radius_key(r): share for r, share in self.published.accuracy.items()},
                "figures": dict(self.published.figures),
                "acr_on_these_images": None if log is None else log.acr,
            },
            "own": {
                "acr": self.acr if self.has_acr else None,
                "acr_is_on_grid": self.is_on_grid,
                "acr_interval": self.acr_interval if self.has_acr else None,
                "certified_accuracy": own,
                "certified_accuracy_interval": ends,
                "figures": dict(self.figures),
                "images": self.summary.images,
                "is_envelope": self.is_envelope,
            },
        }


def _mean_largest(radii: Sequence[float], shares: Sequence[float]) -> float:
    """Return the mean, over images, of the largest of these radii that is certified, from the shares at each."""
    steps = zip(radii, (0.0, *radii), shares, strict=False)
    return float(sum((radius - before) * share for radius, before, share in steps))
