"""One run or log in a few numbers, unrounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Note, Reach, Reading, Results
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.radii import asked_radii, named_radii, radius_grid, radius_key
from smoothcert.report.cost import cost_figures, mean_answered
from smoothcert.report.wording import describe_indices, setting_text
from smoothcert.store import Run, largest_found, reach_of, read_log

__all__ = ["CONFIDENCE", "Summary", "describe_indices"]

CONFIDENCE = 0.95
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Summary:
    """The figures of one set of certificates; fractions, radii in pixel units, nothing rounded.

    Args:
        name: path or title.
        results: the certificates as columns.
        seconds: worker seconds, summed.
        samples: votes drawn per image, where known.
        evaluations: forward passes per image, where known.
        p_hat: share of the leading class in the votes of each image, where known.
        manifest: what the run is about; empty for a log.
        cost: what early stopping saved; empty for a log.
        default: what the default bound proves from the same votes, for a run that bounds the runner-up.
        told: which radii the certificates can speak of, where that is known; by default what the manifest says.
        ignored: columns of a log that were not read.
        run: the run itself, where there is one, for its counts.

    Made from these once: `images`, their number; `acr`, the average certified radius; `abstained`, the share of images
    without a class; `largest_radius`, the largest certified one of a correctly certified image.
    """

    name: str
    results: Results
    seconds: float
    samples: NDArray[np.int64] | None = None
    evaluations: NDArray[np.int64] | None = None
    p_hat: NDArray[np.float64] | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, Any] = field(default_factory=dict)
    default: Results | None = None
    told: Reach | None = None
    ignored: tuple[str, ...] = ()
    run: Run | None = None
    images: int = field(init=False)
    acr: float = field(init=False)
    abstained: float = field(init=False)
    largest_radius: float = field(init=False)

    def __post_init__(self) -> None:
        found = self.results
        for name, figure in {
            "images": len(found.index),
            "acr": found.average_radius(),
            "abstained": found.abstained(),
            "largest_radius": float(np.max(found.radius, where=found.correct, initial=0.0)),
        }.items():
            object.__setattr__(self, name, figure)

    @classmethod
    def of_run(cls, run: Run, name: str | None = None) -> Summary:
        """Summarise a run."""
        return cls(
            name=run.name if name is None else name,
            results=run.results,
            p_hat=run.p_hat,
            default=run.default_results,
            told=run.reach,
            manifest=run.manifest,
            seconds=float(sum(run.columns["seconds"])),
            samples=np.asarray(run.columns["samples"], dtype=np.int64),
            evaluations=np.asarray(run.columns["evaluations"], dtype=np.int64),
            cost=cost_figures(run),
            run=run,
        )

    @classmethod
    def of_path(cls, path: Path, norm: str | None = None, target: float | None = None) -> Summary:
        """Summarise a run folder or a log in the field's columns.

        Args:
            path: the folder or file.
            norm: norm to give a run's radii in; the noise's own by default.
            target: the radius that an adaptive certification asked about, for a log that does not tell.
        """
        if path.is_dir():
            run = Run.open(path)
            return cls.of_run(run if norm is None else run.in_norm(norm), str(path))
        if not path.exists():
            raise StoreError(f"there is no {path}; give run folders or TSV logs")
        if norm is not None:
            raise InvalidArgumentError(
                f"{path} is a log, which tells neither norm nor image size; give its run folder, or leave norm out"
            )
        log = read_log(path, target)
        seconds = float(log.seconds.sum())
        return cls(str(path), log.results, seconds, told=log.reach, ignored=log.ignored)

    def renamed(self, name: str) -> Summary:
        """Return the same under another name."""
        return replace(self, name=name)

    @property
    def setting(self) -> str:
        """Data, noise, norm, procedure and error probability of a run, in words; empty for a log."""
        if not self.manifest:
            return ""
        return setting_text(self.manifest, self.reach)

    @property
    def asked(self) -> tuple[float, ...] | None:
        """The radii that were asked about, increasing; None if the largest was looked for, or a log does not tell."""
        return asked_radii(self.manifest.get("procedure", {})) if self.told is None else self.told.asked

    @cached_property
    def reach(self) -> Reach:
        """Which radii the certificates can speak of."""
        if self.told is not None:
            return self.told
        if "noise" in self.manifest:
            return reach_of(self.manifest)
        return Reach(largest_found(self.results), self.asked, is_known=False)

    @cached_property
    def default_reach(self) -> Reach:
        """The same for the default bound, for a run that bounds the runner-up."""
        return reach_of(self.manifest, runner_up=False)

    def read(self, radii: NDArray[np.float64]) -> Reading:
        """Return certified accuracy at radii, with what is to be said of it."""
        return self.reach.read(self.results, radii)

    @property
    def missing(self) -> int:
        """Images of the run that have no certificate yet. Hard images end last, so the others look too good."""
        left = len(self.manifest.get("indices", ())) - self.images if self.run is None else self.run.missing
        return max(left, 0)

    @property
    def failures(self) -> Mapping[int, str]:
        """Why the model could not answer some of the images, by index. They count as images without a certificate."""
        return {} if self.run is None else self.run.failures

    @property
    def votes_per_image(self) -> float | None:
        """Mean votes of the images that have some, where known."""
        if self.samples is None or not self.samples.any():
            return None
        return mean_answered(self.samples)

    @property
    def evaluations_per_vote(self) -> float | None:
        """Mean network evaluations of a vote, where known."""
        if self.samples is None or self.evaluations is None or not self.samples.sum():
            return None
        return float(self.evaluations.sum() / self.samples.sum())

    @property
    def indices(self) -> str:
        """The images in words."""
        return describe_indices(self.results.index)

    @property
    def _step(self) -> float:
        return {"l0": 1.0, "linf": 1 / 255}.get(self.manifest.get("norm", "l2"), 0.25)

    def to_json(self, radii: NDArray[np.float64] | None = None) -> dict[str, Any]:
        """Return plain values for `--json`; keys of certified accuracy are radii with two decimals.

        Args:
            radii: where to read certified accuracy; steps of .25 (l0: 1, linf: 1/255) up to the largest radius by
                default.
        """
        grid = radius_grid(self.largest_radius, self._step) if radii is None else radii
        if radii is None and self.asked is not None:  # two decimals would not tell finer radii apart
            grid = np.array([*grid, *self.asked])
        grid = np.unique(named_radii(grid))
        return {
            "path": self.name,
            "images": self.images,
            "acr": self.acr,
            **self._accuracy_json(grid),
            "confidence": CONFIDENCE,
            "largest_provable_radius": self.reach.largest if self.reach.is_known else None,
            "abstained": self.abstained,
            "indices": self.indices,
            "missing_images": self.missing,
            "failed_images": len(self.failures),
            "asked_radii": self.asked,
            **{key: self.manifest.get(key) for key in ("norm", "noise", "procedure", "alpha", "dataset")},
            "samples_per_image": self.votes_per_image,
            "evaluations_per_image": None
            if self.evaluations is None
            else _mean(self.evaluations[self.evaluations > 0]),
            "evaluations_per_vote": self.evaluations_per_vote,
            "p_hat_quantiles": _quantiles(self.p_hat),
            "default": self._default_json(grid),
            "seconds": self.seconds,
            **self.cost,
        }

    def _accuracy_json(self, grid: NDArray[np.float64]) -> dict[str, Any]:
        """Return shares and intervals by radius, null where nothing can be said, and the reason by radius."""
        reading = self.read(grid)
        low, high = self.results.certified_accuracy_interval(grid, CONFIDENCE)
        told, notes = reading.told, reading.notes
        # Where the share is only known to be so large or larger, so is the upper end.
        high = np.where([note is Note.AT_LEAST for note in notes], 1.0, high)
        intervals = [list(pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]
        return {
            "certified_accuracy": _by_radius(grid, told),
            "certified_accuracy_notes": {
                radius_key(radius): note.value
                for radius, note in zip(grid, notes, strict=True)
                if note is not None
            },
            "certified_accuracy_interval": _by_radius(
                grid,
                [None if share is None else pair for share, pair in zip(told, intervals, strict=True)],
            ),
        }

    def _default_json(self, grid: NDArray[np.float64]) -> dict[str, Any] | None:
        """Return what the default bound proves, for a run that bounds the runner-up."""
        if self.default is None:
            return None
        return {
            "acr": self.default.average_radius(),
            "certified_accuracy": _by_radius(grid, self.default_reach.read(self.default, grid).told),
            "largest_provable_radius": self.default_reach.largest,
            "abstained": self.default.abstained(),
        }


def _by_radius(grid: NDArray[np.float64], values: list[Any]) -> dict[str, Any]:
    return dict(zip(map(radius_key, grid.tolist()), values, strict=True))


def _quantiles(p_hat: NDArray[np.float64] | None) -> dict[str, float] | None:
    known = None if p_hat is None else p_hat[p_hat > 0]  # none of an image on which the model failed
    if known is None or len(known) == 0:
        return None
    return {str(q): float(v) for q, v in zip(_QUANTILES, np.quantile(known, _QUANTILES), strict=True)}


def _mean(values: NDArray[np.int64] | None) -> float | None:
    return None if values is None or len(values) == 0 else float(values.mean())
