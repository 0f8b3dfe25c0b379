"""The stored images of a run one by one, each held against its seal: rows to copy, in memory of one image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from smoothcert.store.database import RunDatabase
from smoothcert.store.rows import CertificateRow, CountsRow, RowReader, VotesRow
from smoothcert.store.seal import seal

_COLUMNS = ", ".join(CertificateRow._fields)


class SealedImage(NamedTuple):
    """The rows about one image, with a seal that fits them under some manifest."""

    certificate: CertificateRow
    counts: list[CountsRow]
    votes: list[VotesRow]
    seal: str


def sealed_rows(database: RunDatabase, manifest: Mapping[str, Any], digest: str) -> Iterator[SealedImage]:
    """Yield the images of a run by index, sealed anew for another manifest; refuse one that was changed.

    Args:
        database: open for reading.
        manifest: of the run, checked.
        digest: of the manifest that the seals shall be about.
    """
    reader, own = RowReader(manifest), database.sealing_digest()
    for row in database.each(f"SELECT {_COLUMNS} FROM certificates ORDER BY idx"):
        with database.checking():
            yield _sealed(database, reader, reader.certificate(row), own, digest)


def _sealed(
    database: RunDatabase, reader: RowReader, row: CertificateRow, own: str, digest: str
) -> SealedImage:
    index = int(row.idx)
    found = database.rows(f"SELECT * FROM counts WHERE idx = {index} ORDER BY position")
    counts = [reader.counts(each)[0] for each in found]
    votes = [
        VotesRow(*each) for each in database.rows(f"SELECT * FROM votes WHERE idx = {index} ORDER BY phase")
    ]
    sealed = database.rows(f"SELECT digest FROM seals WHERE idx = {index}")
    if not sealed or sealed[0][0] != seal(own, row, counts, votes):
        raise ValueError(
            f"something stored about image {index} was changed after it was written: no seal fits it"
        )
    anew = sealed[0][0] if digest == own else seal(digest, row, counts, votes)
    return SealedImage(row, counts, votes, anew)
