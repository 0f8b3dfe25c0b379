"""The rows of a run, checked value by value where they are read."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smoothcert.arguments import is_whole
from smoothcert.certificates import Certificate, Outcome
from smoothcert.store.manifest_fields import MOST_INDEX, MOST_RADIUS
from smoothcert.visible import brief

PURPOSES = ("select", "bound", "certify", "stop")
MOST_LABEL = 2**31
FAILED = Outcome.FAILED.name
"""No outcome of votes, and so of no row of certificates."""
_MOST_REASON = 4_000  # letters
_MOST_SECONDS = 1e9
_MOST_PHASE = 64  # letters
_SHOWN = 60  # characters of a value in a message
_DIGITS = 24  # of a count in JSON, comma and blank included


class CertificateRow(NamedTuple):
    """A row of the table of certificates, as stored; the names are those of its columns."""

    idx: int
    label: int
    outcome: str
    predicted: int | None
    radius: float
    p_lower: float
    samples: int
    evaluations: int
    seconds: float


class CountsRow(NamedTuple):
    """A row of the table of counts, as stored; the names are those of its columns."""

    idx: int
    position: int
    phase: str
    purpose: str
    radius: float | None
    drawn: int
    evaluations: int
    votes: str


class FailureRow(NamedTuple):
    """A row of the table of failures, as stored: an image that the model could not answer, and why."""

    idx: int
    label: int
    reason: str

    @property
    def certificate(self) -> CertificateRow:
        """The image among certificates, so that none is lost from a denominator: no class, no radius, no votes."""
        return CertificateRow(self.idx, self.label, FAILED, None, 0.0, 0.0, 0, 0, 0.0)


class VotesRow(NamedTuple):
    """A row of the table of votes, as stored; the names are those of its columns."""

    idx: int
    phase: str
    packed: bytes


def rows_of(c: Certificate, label: int) -> tuple[CertificateRow, list[CountsRow], list[VotesRow]]:
    """Return a certificate as rows; numbers as they will be read back, for the seal."""
    row = CertificateRow(
        idx=c.index,
        label=label,
        outcome=c.outcome.name,
        predicted=c.predicted,
        radius=float(c.radius),
        p_lower=float(c.p_lower),
        samples=c.samples,
        evaluations=c.evaluations,
        seconds=c.seconds,
    )
    counts = [
        CountsRow(
            idx=c.index,
            position=position,
            phase=tally.phase,
            purpose=tally.purpose,
            radius=None if tally.radius is None else float(tally.radius),
            drawn=tally.counts.drawn,
            evaluations=tally.counts.evaluations,
            votes=json.dumps(tally.counts.votes.tolist()),
        )
        for position, tally in enumerate(c.tallies)
    ]
    return row, counts, [VotesRow(c.index, phase, packed) for phase, packed in sorted(c.vote_log.items())]


@dataclass(frozen=True)
class End:
    """What the first or the last deciding look of an image counted."""

    phase: str
    votes: NDArray[np.int64]
    drawn: int
    evaluations: int


class RowReader:
    """Takes rows as SQLite gives them and refuses, by ValueError, those that no run writes.

    Not a proof that their values are true: an audit looks into that.

    Args:
        manifest: of the run, checked.
    """

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.classes: int = manifest["num_classes"]
        self.listed = frozenset(manifest["indices"])

    def certificate(self, row: tuple[Any, ...]) -> CertificateRow:
        """Return a row of the table of certificates."""
        read = CertificateRow(*row)
        if read.idx not in self.listed:
            raise ValueError(f"image {brief(read.idx, _SHOWN)} is stored, but not listed in the manifest")
        about, outcome, predicted = f"of image {read.idx}", read.outcome, read.predicted
        _whole("label", about, read.label, MOST_LABEL - 1)
        certified = outcome == Outcome.CERTIFIED.name
        if not isinstance(outcome, str) or outcome not in Outcome.__members__ or outcome == FAILED:
            raise ValueError(f"outcome {about} is {brief(outcome, _SHOWN)}, which is none that there is")
        if certified != (predicted is not None):
            raise ValueError(f"predicted {about} is {brief(predicted, _SHOWN)}, but the outcome is {outcome}")
        if certified:
            _whole("predicted", about, predicted, self.classes - 1)
        _number("radius", about, read.radius, MOST_RADIUS if certified else 0.0)
        _number("p_lower", about, read.p_lower, 1.0)
        _whole("samples", about, read.samples, MOST_INDEX, least=1)
        _whole("evaluations", about, read.evaluations, MOST_INDEX)
        _number("seconds", about, read.seconds, _MOST_SECONDS)
        return read

    def failure(self, row: tuple[Any, ...]) -> FailureRow:
        """Return a row of the table of failures."""
        read = FailureRow(*row)
        if read.idx not in self.listed:
            raise ValueError(f"image {brief(read.idx, _SHOWN)} failed, but is not listed in the manifest")
        _whole("label", f"of image {read.idx}", read.label, MOST_LABEL - 1)
        if not isinstance(read.reason, str) or len(read.reason) > _MOST_REASON:
            raise ValueError(
                f"reason of image {read.idx} is {brief(read.reason, _SHOWN)}, expected a short text"
            )
        return read

    def counts(self, row: tuple[Any, ...]) -> tuple[CountsRow, End]:
        """Return a row of the table of counts, and what it counted."""
        read = CountsRow(*row)
        about = f"of the counts of image {brief(read.idx, _SHOWN)}"
        _whole("idx", about, read.idx, MOST_INDEX)
        _whole("position", about, read.position, MOST_INDEX)
        if not isinstance(read.phase, str) or not 0 < len(read.phase) <= _MOST_PHASE:
            raise ValueError(f"phase {about} is {brief(read.phase, _SHOWN)}, expected a short text")
        if read.purpose not in PURPOSES:
            raise ValueError(
                f"purpose {about} is {brief(read.purpose, _SHOWN)}, expected one of {', '.join(PURPOSES)}"
            )
        if read.radius is not None:
            _number("radius", about, read.radius, MOST_RADIUS)
        _whole("drawn", about, read.drawn, MOST_INDEX, least=1)
        _whole("evaluations", about, read.evaluations, MOST_INDEX)
        votes = self._votes(about, read.votes, read.drawn)
        return read, End(read.phase, votes, read.drawn, read.evaluations)

    def ends(
        self, rows: Iterable[tuple[Any, ...]], certificates: Sequence[CertificateRow]
    ) -> tuple[list[End], list[End]]:
        """Return what the first and the last look of each image counted, in the order of the certificates.

        Args:
            rows: of the table of counts, by image and position.
            certificates: the rows that they belong to, by image.
        """
        first: list[End] = []
        last: list[End] = []
        before: CountsRow | None = None
        for row, end in map(self.counts, rows):
            if before is None or before.idx != row.idx:
                if len(last) == len(certificates) or certificates[len(last)].idx != row.idx:
                    raise ValueError(f"counts of image {row.idx} are without its certificate, or the reverse")
                first.append(end)
                last.append(end)
                expected = 0
            else:
                expected = before.position + 1
            if row.position != expected:
                raise ValueError(f"counts of image {row.idx} are not numbered from 0")
            if row.drawn > certificates[len(last) - 1].samples:
                raise ValueError(f"counts of image {row.idx} are more than its samples")
            last[-1], before = end, row
        if len(last) < len(certificates):
            raise ValueError(f"counts of image {certificates[len(last)].idx} are missing")
        return first, last

    def _votes(self, about: str, text: Any, drawn: int) -> NDArray[np.int64]:
        counted: Any = None
        if isinstance(text, str) and len(text) <= _DIGITS * self.classes:
            with contextlib.suppress(ValueError, RecursionError):
                counted = json.loads(text)
        if not isinstance(counted, list) or len(counted) != self.classes:
            raise ValueError(
                f"votes {about} are {brief(text, _SHOWN)}, expected a list of {self.classes} counts"
            )
        for count in counted:
            _whole("one of votes", about, count, drawn)
        if sum(counted) > drawn:
            raise ValueError(f"votes {about} are {sum(counted)} together, but {drawn} were drawn")
        return np.asarray(counted, dtype=np.int64)


def _whole(name: str, about: str, value: Any, most: int, least: int = 0) -> None:
    if not is_whole(value, least, most):
        raise ValueError(
            f"{name} {about} is {brief(value, _SHOWN)}, expected an integer from {least} to {most}"
        )


def _number(name: str, about: str, value: Any, most: float) -> None:
    if type(value) is not float or not math.isfinite(value) or not 0 <= value <= most:
        raise ValueError(f"{name} {about} is {brief(value, _SHOWN)}, expected a number from 0 to {most:g}")
