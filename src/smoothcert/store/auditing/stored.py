"""Everything a run folder holds, as it is written there, before anybody believes it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Tally
from smoothcert.errors import StoreError
from smoothcert.sampling import Counts, unpack
from smoothcert.store.database import RunDatabase
from smoothcert.store.seal import manifest_digest, seal


@dataclass(frozen=True)
class StoredImage:
    """The rows about one image. Not checked in any way."""

    certificate: tuple[Any, ...]
    counts: tuple[tuple[Any, ...], ...]
    votes: tuple[tuple[int, str, bytes], ...]
    seal: str | None

    @property
    def index(self) -> int:
        """The image's place in the data set."""
        return int(self.certificate[0])

    def tallies(self) -> tuple[Tally, ...]:
        """Return the counts at deciding looks; raise ValueError where they cannot be counts."""
        try:
            return tuple(
                Tally(phase, purpose, _counts(votes, drawn, passes), radius)
                for _, _, phase, purpose, radius, drawn, passes, votes in self.counts
            )
        except (TypeError, ArithmeticError) as error:
            raise ValueError(f"no counts: {error}") from error

    def ballots(self, num_classes: int) -> dict[str, NDArray[Any]]:
        """Return the votes one by one, by phase; raise ValueError on damage."""
        try:
            return {phase: unpack(packed, num_classes) for _, phase, packed in self.votes}
        except TypeError as error:
            raise ValueError(f"no votes: {error}") from error


@dataclass(frozen=True)
class StoredRun:
    """A run folder's content."""

    manifest: dict[str, Any]
    digest: str
    images: tuple[StoredImage, ...]
    strays: tuple[int, ...]  # images with counts or votes and without a certificate
    origin: dict[str, str]
    foreign: tuple[str, ...] = ()  # what is in the file and in no run; nothing else is read then

    def seal_of(self, image: StoredImage) -> str:
        """Return the seal that the image should have."""
        return seal(self.digest, image.certificate, image.counts, image.votes)


def read_stored(database: RunDatabase) -> StoredRun:
    """Read a whole run folder."""
    manifest = database.manifest()
    if manifest is None:
        raise StoreError(f"{database.where} holds no run yet; start it again with resume")
    foreign = database.foreign_tables()
    if foreign:
        return StoredRun(manifest, "", (), (), {}, tuple(foreign))
    counts: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    votes: defaultdict[int, list[tuple[int, str, bytes]]] = defaultdict(list)
    for row in database.rows("SELECT * FROM counts ORDER BY idx, position"):
        counts[row[0]].append(row)
    for index, phase, packed in _optional(database, "votes", "idx, phase"):
        votes[index].append((index, phase, packed))
    seals = dict(_optional(database, "seals", "idx"))
    images = tuple(
        StoredImage(row, tuple(counts.pop(row[0], ())), tuple(votes.pop(row[0], ())), seals.pop(row[0], None))
        for row in database.rows("SELECT * FROM certificates ORDER BY idx")
    )
    return StoredRun(
        manifest=manifest,
        digest=manifest_digest(database.rows("SELECT field, value FROM manifest")),
        images=images,
        strays=tuple(sorted({*counts, *votes, *seals})),
        origin=dict(_optional(database, "origin", "field")),
    )


def _counts(votes: Any, drawn: Any, passes: Any) -> Counts:
    found = np.asarray(json.loads(votes), dtype=np.int64)
    if found.ndim != 1 or (found < 0).any() or not isinstance(drawn, int) or not isinstance(passes, int):
        raise ValueError(f"no counts of votes: {votes!r} of {drawn!r}")
    return Counts(found, drawn, passes)


def _optional(database: RunDatabase, table: str, order: str) -> list[tuple[Any, ...]]:
    return database.rows(f"SELECT * FROM {table} ORDER BY {order}") if database.has_table(table) else []
