"""Everything a run folder holds, as it is written there, before anybody believes it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Tally
from smoothcert.errors import DamagedRunError, FormatError, InvalidArgumentError, StoreError
from smoothcert.reading import parse_json
from smoothcert.sampling import CHUNK_VOTES, Counts, unpack
from smoothcert.store import (
    SHARD,
    CertificateRow,
    CountsRow,
    FailureRow,
    RunDatabase,
    Share,
    VotesRow,
    manifest_digest,
    seal,
)

Row = tuple[Any, ...]
OfImage = TypeVar("OfImage", CountsRow, VotesRow)


@dataclass(frozen=True)
class StoredImage:
    """The rows about one image. Not checked in any way."""

    certificate: CertificateRow
    counts: tuple[CountsRow, ...]
    votes: tuple[VotesRow, ...]
    seal: Any

    @property
    def index(self) -> int:
        """The image's place in the data set; as the table's key it is always an integer."""
        return int(self.certificate.idx)

    @property
    def samples(self) -> int:
        """Votes that are said to have been drawn; only of a row of the right kinds."""
        return int(self.certificate.samples)

    @property
    def evaluations(self) -> int:
        """Forward passes that they are said to have cost; only of a row of the right kinds."""
        return int(self.certificate.evaluations)

    def tallies(self, num_classes: int) -> tuple[Tally, ...]:
        """Return the counts at deciding looks, from rows of the right kinds; raise ValueError on other counts."""
        return tuple(
            Tally(row.phase, row.purpose, _counts(row, num_classes), row.radius) for row in self.counts
        )

    def vote_log(self, num_classes: int, most: Mapping[str, int]) -> dict[str, NDArray[Any]]:
        """Return the votes one by one, by phase; raise ValueError on damage and on a phase that there cannot be.

        Args:
            num_classes: the manifest's number of classes.
            most: votes that each phase can have at most.
        """
        if not self.votes:
            raise ValueError("its votes are missing")
        other = [row.phase for row in self.votes if row.phase not in most]
        if other:
            raise ValueError(f"there are votes of a phase {other[0]!r}, which the procedure does not have")
        return {row.phase: unpack(row.packed, num_classes, most[row.phase]) for row in self.votes}


@dataclass(frozen=True)
class Stream:
    """The votes of one image in one phase, known to be readable. Not unpacked: a run may have a billion."""

    image: StoredImage
    phase: str
    votes: int

    @property
    def chunks(self) -> int:
        """Chunks that the votes came in; the last may be short."""
        return -(-self.votes // CHUNK_VOTES)

    def cast(self, num_classes: int) -> NDArray[Any]:
        """Return the votes one by one."""
        packed = {row.phase: row.packed for row in self.image.votes}[self.phase]
        return unpack(packed, num_classes, self.votes)


@dataclass(frozen=True)
class StoredRun:
    """A run folder's content."""

    manifest: dict[str, Any]
    digest: str
    images: tuple[StoredImage, ...]
    strays: tuple[Any, ...]  # images with counts, votes or seals and without a certificate
    unfinished: tuple[int, ...]  # images of which a state is kept
    origin: tuple[Row, ...]
    failures: tuple[FailureRow, ...] = ()  # images that the model could not answer, by index
    foreign: tuple[str, ...] = ()  # what is in the file and in no run; nothing else is read then

    @property
    def share(self) -> Share | None:
        """The share of a plan that it says it is; None for a whole run, or for what is no share."""
        noted = [value for field, value in self.origin if field == SHARD]
        try:
            return Share.read(noted[0]) if noted else None
        except InvalidArgumentError:
            return None

    @property
    def listed(self) -> Sequence[int]:
        """The images that it should have."""
        indices: Sequence[int] = self.manifest["indices"]
        return indices if self.share is None else self.share.images(indices)

    def seal_of(self, image: StoredImage) -> str:
        """Return the seal that the image should have."""
        return seal(self.digest, image.certificate, image.counts, image.votes)


def read_stored(database: RunDatabase) -> StoredRun:
    """Read a whole run folder; raise `DamagedRunError` where it is no whole database, or has no manifest to read."""
    database.check_integrity()
    if not database.rows("SELECT name FROM sqlite_master"):
        raise StoreError(f"{database.where} holds no run yet; start it again with resume")
    foreign = database.foreign_tables()
    if foreign:
        return StoredRun({}, "", (), (), (), (), foreign=tuple(foreign))
    written = database.rows("SELECT field, value FROM manifest")
    manifest = _manifest(written)
    counts = _by_image(map(CountsRow._make, database.rows("SELECT * FROM counts ORDER BY idx, position")))
    votes = _by_image(map(VotesRow._make, database.rows("SELECT * FROM votes ORDER BY idx, phase")))
    seals = dict(database.rows("SELECT * FROM seals"))
    rows = map(CertificateRow._make, database.rows("SELECT * FROM certificates ORDER BY idx"))
    images = tuple(
        StoredImage(
            row, tuple(counts.pop(row.idx, ())), tuple(votes.pop(row.idx, ())), seals.pop(row.idx, None)
        )
        for row in rows
    )
    return StoredRun(
        manifest=manifest,
        digest=manifest_digest(written),
        images=images,
        strays=tuple(sorted({*counts, *votes, *seals}, key=repr)),
        unfinished=tuple(index for (index,) in database.rows("SELECT idx FROM unfinished ORDER BY idx")),
        origin=tuple(database.rows("SELECT field, value FROM origin")),
        failures=tuple(map(FailureRow._make, database.rows("SELECT * FROM failures ORDER BY idx"))),
    )


def _manifest(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the manifest's rows say; refuse what two readers of JSON could read differently."""
    manifest = {}
    for field, text in rows:
        where = f"field {field!r} of its manifest"
        if not isinstance(field, str) or not isinstance(text, str):
            raise DamagedRunError(f"{where} is no text")
        manifest[field] = parse_json(text, where, DamagedRunError)
        if json.dumps(manifest[field]) != text:  # e.g. one key twice
            raise DamagedRunError(f"{where} is not written as a run writes it: {text[:60]!r}")
    return manifest


def _by_image(rows: Iterable[OfImage]) -> dict[Any, list[OfImage]]:
    by_image: defaultdict[Any, list[OfImage]] = defaultdict(list)
    for row in rows:
        by_image[row.idx].append(row)
    return by_image


def _counts(row: CountsRow, num_classes: int) -> Counts:
    text, drawn, passes = row.votes, row.drawn, row.evaluations
    votes = parse_json(text, "a row of its counts", FormatError)
    if not isinstance(votes, list) or len(votes) != num_classes:
        raise ValueError(f"its counts are not of {num_classes} classes")
    whole = all(type(vote) is int and 0 <= vote <= drawn for vote in votes)
    if not whole or json.dumps(votes) != text:
        raise ValueError(f"no counts of votes: {text[:60]!r} of {drawn!r}")
    return Counts(np.asarray(votes, dtype=np.int64), drawn, passes)
