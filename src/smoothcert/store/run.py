"""A run: the stored certificates of many images, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.certificates import Reach, Results
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.noise import NORMS
from smoothcert.sampling import Counts
from smoothcert.store.database import RunDatabase, refuse_no_run
from smoothcert.store.other_radii import converted, default_radii, in_norm
from smoothcert.store.reach import reach_of
from smoothcert.store.rows import CertificateRow, RowReader

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
    ) -> None:
        self.name, self.manifest = name, manifest
        self.places: Mapping[str, Path] = {} if places is None else places
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
        chosen = (
            [int(end.votes.argmax()) for end in first] if manifest["procedure"].get("runner_up") else None
        )
        counts = [Counts(end.votes, end.drawn, end.evaluations) for end in last]
        places = {} if database.folder is None else _places(database)
        return cls(name, manifest, rows, counts, [end.phase for end in last], chosen, reach, places)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        procedure, norm = self.manifest["procedure"]["name"], self.manifest["norm"]
        return f"Run({self.name!r}: {len(self)} images, procedure {procedure}, radii in {norm})"

    def column(self, name: str) -> list[Any]:
        """Return one column by name (idx, label, outcome, predicted, radius, ..), ordered by image index."""
        if name not in COLUMNS:
            raise InvalidArgumentError(f"a run has no column {name!r}; known: {', '.join(COLUMNS)}")
        return list(self.columns[name])

    @property
    def is_complete(self) -> bool:
        """True if every image of the manifest has its certificate."""
        return len(self) == len(self.manifest["indices"])

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
        predicted, radius = default_radii(self.manifest, self._chosen, self.final_counts)
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
            self.name, manifest, rows, self.final_counts, self.final_phases, self._chosen, places=self.places
        )

    @cached_property
    def p_hat(self) -> NDArray[np.float64]:
        """Share of the votes that the leading class had when each image ended: an estimate of p_A, no bound."""
        return np.array([counts.votes.max() / counts.drawn for counts in self.final_counts], dtype=np.float64)

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


def _places(database: RunDatabase) -> dict[str, Path]:
    """Return the places that a run noted, as seen from its folder; what is no place is left out."""
    assert database.folder is not None
    noted = database.rows("SELECT field, value FROM origin")
    return {
        field: (database.folder / place).resolve()
        for field, place in noted
        if isinstance(field, str) and isinstance(place, str) and "\0" not in place
    }
