"""The rows of a run, checked value by value where they are read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smoothcert.arguments import is_whole
from smoothcert.certificates import Outcome
from smoothcert.sampling import Counts
from smoothcert.store.manifest_fields import MOST_INDEX, MOST_RADIUS
from smoothcert.visible import brief

PURPOSES = ("select", "bound", "certify", "stop")
MOST_LABEL = 2**31
_MOST_SECONDS = 1e9
_MOST_PHASE = 64  # letters
_SHOWN = 60  # characters of a value in a message
_DIGITS = 24  # of a count in JSON, comma and blank included


@dataclass(frozen=True)
class CountsRow:
    """What one deciding look counted, as stored."""

    index: int
    position: int
    phase: str
    counts: Counts


class RowReader:
    """Takes rows as SQLite gives them and refuses, by ValueError, those that no run writes.

    Not a proof that their values are true: an audit looks into that.

    Args:
        manifest: of the run, checked.
    """

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.classes: int = manifest["num_classes"]
        self.listed = frozenset(manifest["indices"])

    def certificate(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a row of the table of certificates."""
        index, label, outcome, predicted, radius, p_lower, samples, evaluations, seconds = row
        if index not in self.listed:
            raise ValueError(f"image {brief(index, _SHOWN)} is stored, but not listed in the manifest")
        about = f"of image {index}"
        _whole("label", about, label, MOST_LABEL - 1)
        certified = outcome == Outcome.CERTIFIED.name
        if not isinstance(outcome, str) or outcome not in Outcome.__members__:
            raise ValueError(f"outcome {about} is {brief(outcome, _SHOWN)}, which is none that there is")
        if certified != (predicted is not None):
            raise ValueError(f"predicted {about} is {brief(predicted, _SHOWN)}, but the outcome is {outcome}")
        if certified:
            _whole("predicted", about, predicted, self.classes - 1)
        _number("radius", about, radius, MOST_RADIUS if certified else 0.0)
        _number("p_lower", about, p_lower, 1.0)
        _whole("samples", about, samples, MOST_INDEX, least=1)
        _whole("evaluations", about, evaluations, MOST_INDEX)
        _number("seconds", about, seconds, _MOST_SECONDS)
        return row

    def counts(self, row: tuple[Any, ...]) -> CountsRow:
        """Return a row of the table of counts."""
        index, position, phase, purpose, radius, drawn, evaluations, votes = row
        about = f"of the counts of image {brief(index, _SHOWN)}"
        _whole("idx", about, index, MOST_INDEX)
        _whole("position", about, position, MOST_INDEX)
        if not isinstance(phase, str) or not 0 < len(phase) <= _MOST_PHASE:
            raise ValueError(f"phase {about} is {brief(phase, _SHOWN)}, expected a short text")
        if purpose not in PURPOSES:
            raise ValueError(
                f"purpose {about} is {brief(purpose, _SHOWN)}, expected one of {', '.join(PURPOSES)}"
            )
        if radius is not None:
            _number("radius", about, radius, MOST_RADIUS)
        _whole("drawn", about, drawn, MOST_INDEX, least=1)
        _whole("evaluations", about, evaluations, MOST_INDEX)
        return CountsRow(index, position, phase, Counts(self._votes(about, votes, drawn), drawn, evaluations))

    def ends(
        self, rows: Iterable[tuple[Any, ...]], certificates: Sequence[tuple[Any, ...]]
    ) -> tuple[list[CountsRow], list[CountsRow]]:
        """Return the first and the last counts of each image, in the order of the certificates.

        Args:
            rows: of the table of counts, by image and position.
            certificates: the rows that they belong to, by image.
        """
        first: list[CountsRow] = []
        last: list[CountsRow] = []
        for row in map(self.counts, rows):
            if not last or last[-1].index != row.index:
                if len(last) == len(certificates) or certificates[len(last)][0] != row.index:
                    raise ValueError(
                        f"counts of image {row.index} are without its certificate, or the reverse"
                    )
                first.append(row)
                last.append(row)
            elif row.position != last[-1].position + 1:
                raise ValueError(f"counts of image {row.index} are not numbered from 0")
            last[-1] = row
            if first[-1].position or row.counts.drawn > certificates[len(last) - 1][6]:
                raise ValueError(
                    f"counts of image {row.index} are not numbered from 0, or more than its samples"
                )
        if len(last) < len(certificates):
            raise ValueError(f"counts of image {certificates[len(last)][0]} are missing")
        return first, last

    def _votes(self, about: str, text: Any, drawn: int) -> Any:
        votes: Any = None
        if isinstance(text, str) and len(text) <= _DIGITS * self.classes:
            try:
                votes = json.loads(text)
            except (ValueError, RecursionError):
                votes = None
        if not isinstance(votes, list) or len(votes) != self.classes:
            raise ValueError(
                f"votes {about} are {brief(text, _SHOWN)}, expected a list of {self.classes} counts"
            )
        for count in votes:
            _whole("one of votes", about, count, drawn)
        if sum(votes) > drawn:
            raise ValueError(f"votes {about} are {sum(votes)} together, but {drawn} were drawn")
        return np.asarray(votes, dtype=np.int64)


def _whole(name: str, about: str, value: Any, most: int, least: int = 0) -> None:
    if not is_whole(value, least, most):
        raise ValueError(
            f"{name} {about} is {brief(value, _SHOWN)}, expected an integer from {least} to {most}"
        )


def _number(name: str, about: str, value: Any, most: float) -> None:
    if type(value) is not float or not math.isfinite(value) or not 0 <= value <= most:
        raise ValueError(f"{name} {about} is {brief(value, _SHOWN)}, expected a number from 0 to {most:g}")
