"""A run: the stored certificates of many images, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.amounts import amount
from smoothcert.certificates import Reach, Results
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.noise import NORMS
from smoothcert.sampling import Counts
from smoothcert.store.database import RunDatabase, refuse_no_run
from smoothcert.store.origin import noted_places, noted_share
from smoothcert.store.other_radii import converted, default_radii, in_norm
from smoothcert.store.pieces.share import Share
from smoothcert.store.reach import reach_of
from smoothcert.store.rows import FAILED, CertificateRow, End, FailureRow, RowReader
from smoothcert.visible import visible

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = CertificateRow._fields


class Run:
    """Certificates read from a run folder, with metrics. Not able to change them.

    Args:
        name: what to call the run in tables.
        manifest: what identifies the run.
        rows: finished images as stored, in the order of `COLUMNS`, sorted by index.
        final_counts: counts of the phase in which each image ended, at its end.
        final_phases: that phase.
        chosen: the class that each image's selecting votes chose, where the procedure bounds the runner-up.
        reach: which radii it can speak of, where its maker knows; what the manifest says by default.
        places: where its model, weights and data were, by the run's own word, which anybody may have changed.
        failures: why the model could not answer some of the images, by index; their rows have no class and no votes.
        share: which share of the manifest's images it is for, by its own word; None for all.

    `columns` holds the rows column by column, by name.
    """

    def __init__(
        self,
        name: str,
        manifest: dict[str, Any],
        rows: Sequence[tuple[Any, ...]],
        final_counts: list[Counts],
        final_phases: list[str],
        chosen: list[int] | None = None,
        reach: Reach | None = None,
        places: Mapping[str, Path] | None = None,
        failures: Mapping[int, str] | None = None,
        share: Share | None = None,
    ) -> None:
        self.name, self.manifest = name, manifest
        self.places: Mapping[str, Path] = {} if places is None else places
        self.failures: Mapping[int, str] = {} if failures is None else failures
        self.share = share
        self._rows = [CertificateRow(*row) for row in rows]
        self.columns: dict[str, list[Any]] = {
            name: [row[place] for row in self._rows] for place, name in enumerate(COLUMNS)
        }
        self.final_counts, self.final_phases, self._chosen = final_counts, final_phases, chosen
        self._reach = reach

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Read a run folder; refuse one that is not a run, naming what was looked for."""
        path = Path(folder)
        refuse_no_run(path)
        database = RunDatabase(path, writable=False)
        try:
            return cls.read(database, path.name)
        finally:
            database.close()

    @classmethod
    def read(cls, database: RunDatabase, name: str, reach: Reach | None = None) -> Self:
        """Read what an open database holds; name and reach as for a run."""
        manifest = database.checked_manifest()
        if manifest is None:
            raise StoreError(f"{database.where} holds no run yet; start it again with resume")
        reader = RowReader(manifest)
        with database.checking():
            query = f"SELECT {', '.join(COLUMNS)} FROM certificates ORDER BY idx"
            rows = [reader.certificate(row) for row in database.each(query)]
            first, last = reader.ends(database.each("SELECT * FROM counts ORDER BY idx, position"), rows)
            failed = [reader.failure(row) for row in database.each("SELECT * FROM failures ORDER BY idx")]
            rows, first, last = _with_failures(rows, first, last, failed, manifest["num_classes"])
        chosen = (
            [int(end.votes.argmax()) for end in first] if manifest["procedure"].get("runner_up") else None
        )
        counts = [Counts(end.votes, end.drawn, end.evaluations) for end in last]
        places = noted_places(database)
        failures = {row.idx: visible(row.reason) for row in failed}
        phases, share = [end.phase for end in last], noted_share(database)
        return cls(name, manifest, rows, counts, phases, chosen, reach, places, failures, share)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        procedure, norm = self.manifest["procedure"]["name"], self.manifest["norm"]
        failed = f", {len(self.failures)} of them failed" if self.failures else ""
        return f"Run({self.name!r}: {amount(len(self), 'image')}{failed}, procedure {procedure}, radii in {norm})"

    def column(self, name: str) -> list[Any]:
        """Return one column by name (idx, label, outcome, predicted, radius, ..), ordered by image index."""
        if name not in COLUMNS:
            raise InvalidArgumentError(f"a run has no column {name!r}; known: {', '.join(COLUMNS)}")
        return list(self.columns[name])

    @property
    def is_complete(self) -> bool:
        """True if every image that it is for has its certificate; one on which the model failed has none."""
        return not self.missing and not self.failures

    @property
    def missing(self) -> int:
        """How many of the images that it is for have neither a certificate nor failed."""
        listed = self.manifest["indices"]
        return len(listed if self.share is None else self.share.images(listed)) - len(self)

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """True for each image that has votes: for all but those on which the model failed."""
        return np.array([outcome != FAILED for outcome in self.columns["outcome"]], dtype=np.bool_)

    @cached_property
    def results(self) -> Results:
        """The columns that metrics are made from."""
        predicted = [-1 if p is None else p for p in self.columns["predicted"]]
        return Results(
            index=np.asarray(self.columns["idx"], dtype=np.int64),
            label=np.asarray(self.columns["label"], dtype=np.int64),
            predicted=np.asarray(predicted, dtype=np.int64),
            radius=np.asarray(self.columns["radius"], dtype=np.float64),
        )

    @cached_property
    def reach(self) -> Reach:
        """Which radii the run can speak of: those it asked about, up to the largest that its votes could prove."""
        return reach_of(self.manifest) if self._reach is None else self._reach

    @cached_property
    def default_results(self) -> Results | None:
        """What the default bound proves from the same votes, for a run that bounds the runner-up; else None."""
        if self._chosen is None:
            return None
        there = np.flatnonzero(self.answered).tolist()
        predicted, radius = np.full(len(self), -1, dtype=np.int64), np.zeros(len(self))
        predicted[there], radius[there] = default_radii(
            self.manifest, [self._chosen[i] for i in there], [self.final_counts[i] for i in there]
        )
        return Results(self.results.index, self.results.label, predicted, radius)

    def in_norm(self, norm: str) -> Run:
        """Return the same certificates with radii in another norm, by the inequality between the norms.

        An l2 radius R is an linf radius of R / sqrt(d): true, and weak. See `noise.radius_in_norm`.

        Args:
            norm: "l1", "l2" or "linf"; l0 radii have no counterpart.
        """
        own = self.manifest["norm"]
        if norm == own:
            return self
        if norm not in NORMS:
            raise InvalidArgumentError(f"norm must be one of {', '.join(NORMS)}, got {norm!r}")
        if own not in NORMS:
            raise InvalidArgumentError(
                f"{self.name} has {own} radii, which cannot be turned into {norm} ones; leave the norm out"
            )
        if "norm_of_noise" in self.manifest:  # twice would give away more than once
            raise InvalidArgumentError(
                f"{self.name} is in {own} already, turned from {self.manifest['norm_of_noise']}; turn the run as it "
                "was opened"
            )
        radii = converted(self.column("radius"), self.manifest, self.manifest["norm"], norm)
        rows = [
            row._replace(radius=float(radius))
            for row, radius in zip(self._rows, np.atleast_1d(radii), strict=True)
        ]
        manifest = in_norm(self.manifest, norm)
        return Run(
            self.name,
            manifest,
            rows,
            self.final_counts,
            self.final_phases,
            self._chosen,
            places=self.places,
            failures=self.failures,
            share=self.share,
        )

    @cached_property
    def p_hat(self) -> NDArray[np.float64]:
        """Share of the votes that the leading class had when each image ended: an estimate of p_A, no bound.

        0 where the model failed, and there are no votes.
        """
        return np.array(
            [counts.votes.max() / max(counts.drawn, 1) for counts in self.final_counts], dtype=np.float64
        )

    def certified_accuracy(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Return the share of images certified as their label at each radius (pixel units) or more.

        A share of 0 may also mean that a radius was not asked about, or that the votes could not prove it: `reach`
        tells.
        """
        return self.results.certified_accuracy(radii)

    def average_radius(self) -> float:
        """Return the average certified radius; see `ACR_CAVEAT` for what it hides."""
        return self.results.average_radius()

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame, one row per image, radii at full precision."""
        import pandas as pd

        frame = pd.DataFrame(self._rows, columns=list(COLUMNS))
        frame["predicted"] = frame["predicted"].astype("Int64")
        frame["p_hat"] = self.p_hat
        frame["correct"] = self.results.correct
        if "norm_of_noise" in self.manifest:
            frame["norm"] = self.manifest["norm"]
        if self.default_results is not None:
            frame["predicted_default"] = pd.array(self.default_results.predicted, dtype="Int64")
            frame.loc[self.default_results.predicted < 0, "predicted_default"] = pd.NA
            frame["radius_default"] = self.default_results.radius
        return frame


def _with_failures(
    rows: list[CertificateRow], first: list[End], last: list[End], failed: list[FailureRow], num_classes: int
) -> tuple[list[CertificateRow], list[End], list[End]]:
    """Put the images on which the model failed among the others, by index; refuse one that has a certificate."""
    if not failed:
        return rows, first, last
    none = End("failed", np.zeros(num_classes, dtype=np.int64), 0, 0)
    joined = [*zip(rows, first, last, strict=True), *((row.certificate, none, none) for row in failed)]
    joined.sort(key=lambda entry: entry[0].idx)
    rows, first, last = (list(column) for column in zip(*joined, strict=True))
    for one, two in pairwise(rows):
        if one.idx == two.idx:
            raise ValueError(f"image {one.idx} has a certificate, and failed")
    return rows, first, last
