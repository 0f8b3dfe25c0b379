"""A run: the stored certificates of many images, and what they say together."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.certificates import Results
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.sampling import Counts
from smoothcert.store.database import FILE_NAME, RunDatabase

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "idx",
    "label",
    "outcome",
    "predicted",
    "radius",
    "p_lower",
    "samples",
    "evaluations",
    "seconds",
)


class Run:
    """Certificates read from a run folder, with metrics. Not able to change them.

    Args:
        name: what to call the run in tables.
        manifest: what identifies the run.
        rows: finished images as stored, in the order of `COLUMNS`, sorted by index.
        final_counts: counts of the phase in which each image ended, at its end.
        final_phases: that phase.
    """

    def __init__(
        self,
        name: str,
        manifest: dict[str, Any],
        rows: list[tuple[Any, ...]],
        final_counts: list[Counts],
        final_phases: list[str],
    ) -> None:
        self.name, self.manifest, self._rows = name, manifest, rows
        self.final_counts, self.final_phases = final_counts, final_phases

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Read a run folder; refuse one that is not a run, naming what was looked for."""
        path = Path(folder)
        if not (path / FILE_NAME).is_file():
            raise StoreError(
                f"{path} is not a run folder: it has no {FILE_NAME}; `smoothcert certify` makes one"
            )
        database = RunDatabase(path, writable=False)
        try:
            return cls.read(database, path.name)
        finally:
            database.close()

    @classmethod
    def read(cls, database: RunDatabase, name: str) -> Self:
        """Read what an open database holds."""
        manifest = database.manifest()
        if manifest is None:
            raise StoreError(f"{database.where} holds no run yet; start it again with resume")
        rows = database.rows(f"SELECT {', '.join(COLUMNS)} FROM certificates ORDER BY idx")
        last = database.rows(
            "SELECT votes, drawn, evaluations, phase, MAX(position) FROM counts GROUP BY idx ORDER BY idx"
        )
        counts = [Counts(np.asarray(json.loads(votes), dtype=np.int64), n, k) for votes, n, k, _, _ in last]
        return cls(name, manifest, rows, counts, [phase for _, _, _, phase, _ in last])

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        procedure, norm = self.manifest["procedure"]["name"], self.manifest["norm"]
        return f"Run({self.name!r}: {len(self)} images, procedure {procedure}, radii in {norm})"

    def column(self, name: str) -> list[Any]:
        """Return one column by name (idx, label, outcome, predicted, radius, ..), ordered by image index."""
        if name not in COLUMNS:
            raise InvalidArgumentError(f"a run has no column {name!r}; known: {', '.join(COLUMNS)}")
        place = COLUMNS.index(name)
        return [row[place] for row in self._rows]

    @property
    def is_complete(self) -> bool:
        """True if every image of the manifest has its certificate."""
        return len(self) == len(self.manifest["indices"])

    @cached_property
    def results(self) -> Results:
        """The columns that metrics are made from."""
        predicted = [-1 if p is None else p for p in self.column("predicted")]
        return Results(
            index=np.asarray(self.column("idx"), dtype=np.int64),
            label=np.asarray(self.column("label"), dtype=np.int64),
            predicted=np.asarray(predicted, dtype=np.int64),
            radius=np.asarray(self.column("radius"), dtype=np.float64),
        )

    @cached_property
    def p_hat(self) -> NDArray[np.float64]:
        """Share of the votes that the leading class had when each image ended: an estimate of p_A, no bound."""
        return np.array([counts.votes.max() / counts.drawn for counts in self.final_counts], dtype=np.float64)

    def certified_accuracy(self, radii: ArrayLike) -> NDArray[np.float64]:
        """Return the share of images certified as their label at each radius (pixel units) or more."""
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
        return frame
