"""One run or log in a few numbers, unrounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Results, radius_grid
from smoothcert.certificates.radii import asked_radii, named_radii, radius_key
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.report.cost import cost_figures
from smoothcert.store import Run, read_tsv

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

    @classmethod
    def of_run(cls, run: Run, name: str | None = None) -> Summary:
        """Summarise a run."""
        return cls(
            name=run.name if name is None else name,
            results=run.results,
            seconds=float(sum(run.column("seconds"))),
            samples=np.asarray(run.column("samples"), dtype=np.int64),
            evaluations=np.asarray(run.column("evaluations"), dtype=np.int64),
            p_hat=run.p_hat,
            manifest=run.manifest,
            cost=cost_figures(run),
            default=run.default_results,
        )

    @classmethod
    def of_path(cls, path: Path, norm: str | None = None) -> Summary:
        """Summarise a run folder or a log in the field's columns.

        Args:
            path: the folder or file.
            norm: norm to give a run's radii in; the noise's own by default.
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
        results, seconds = read_tsv(path)
        return cls(name=str(path), results=results, seconds=float(seconds.sum()))

    @property
    def largest_radius(self) -> float:
        """The largest certified radius of a correctly certified image."""
        return float(np.max(self.results.radius, where=self.results.correct, initial=0.0))

    @property
    def setting(self) -> str:
        """Data, noise, norm, procedure and error probability of a run, in words; empty for a log."""
        if not self.manifest:
            return ""
        noise = ", ".join(
            f"{key} {value:g}" for key, value in self.manifest["noise"].items() if key != "name"
        )
        derived = (
            f" (turned from {self.manifest['norm_of_noise']})" if "norm_of_noise" in self.manifest else ""
        )
        return (
            f"{self.manifest['dataset']['name']} ({self.manifest['dataset']['split']}), "
            f"{self.manifest['noise']['name']} noise ({noise}), radii in {self.manifest['norm']}{derived}, "
            f"procedure {_procedure_text(self.manifest['procedure'])}, "
            f"error at most {self.manifest['alpha']:g} per image"
        )

    @property
    def asked(self) -> tuple[float, ...] | None:
        """The radii that the run asked about, increasing; None if it looked for the largest, or for a log."""
        return asked_radii(self.manifest.get("procedure", {}))

    @property
    def missing(self) -> int:
        """Images of the run that have no certificate yet. Hard images end last, so the others look too good."""
        return max(len(self.manifest.get("indices", ())) - len(self.results), 0)

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
        low, high = self.results.certified_accuracy_interval(grid, CONFIDENCE)
        keys = [radius_key(radius) for radius in grid]
        return {
            "path": self.name,
            "images": len(self.results),
            "acr": self.results.average_radius(),
            "certified_accuracy": dict(
                zip(keys, self.results.certified_accuracy(grid).tolist(), strict=True)
            ),
            "certified_accuracy_interval": dict(
                zip(keys, [list(pair) for pair in zip(low.tolist(), high.tolist(), strict=True)], strict=True)
            ),
            "confidence": CONFIDENCE,
            "abstained": self.results.abstained(),
            "indices": self.indices,
            "missing_images": self.missing,
            "asked_radii": self.asked,
            **{key: self.manifest.get(key) for key in ("norm", "noise", "procedure", "alpha", "dataset")},
            "samples_per_image": _mean(self.samples),
            "evaluations_per_image": _mean(self.evaluations),
            "evaluations_per_vote": self.evaluations_per_vote,
            "p_hat_quantiles": None
            if self.p_hat is None or len(self.p_hat) == 0
            else {
                str(q): float(v) for q, v in zip(_QUANTILES, np.quantile(self.p_hat, _QUANTILES), strict=True)
            },
            "default": None
            if self.default is None
            else {
                "acr": self.default.average_radius(),
                "certified_accuracy": dict(
                    zip(keys, self.default.certified_accuracy(grid).tolist(), strict=True)
                ),
                "abstained": self.default.abstained(),
            },
            "seconds": self.seconds,
            **self.cost,
        }


def describe_indices(indices: NDArray[np.int64]) -> str:
    """Return an index set in words, because the choice of images moves every figure."""
    if len(indices) == 0:
        return "no images"
    ordered = np.sort(indices)
    steps = np.unique(np.diff(ordered))
    if len(ordered) == 1:
        return f"image {ordered[0]}"
    if len(steps) == 1:
        every = "" if steps[0] == 1 else f", every {steps[0]}th"
        return f"images {ordered[0]} to {ordered[-1]}{every}"
    return f"{len(ordered)} images between {ordered[0]} and {ordered[-1]}"


def _procedure_text(procedure: Mapping[str, Any]) -> str:
    """Return a procedure with its numbers in words."""
    shown = {key: value for key, value in procedure.items() if key != "name" and value is not None}
    numbers = ", ".join(
        f"{key} {' '.join(f'{one:g}' for one in named_radii(value)) if isinstance(value, list) else value}"
        for key, value in shown.items()
    )
    return f"{procedure['name']} ({numbers})" if numbers else str(procedure["name"])


def _mean(values: NDArray[np.int64] | None) -> float | None:
    return None if values is None or len(values) == 0 else float(values.mean())
