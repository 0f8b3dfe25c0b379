"""The run folder's database: one SQLite file that survives a crash at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smoothcert.certificates import Certificate
from smoothcert.errors import DamagedRunError, FormatError, StoreError
from smoothcert.reading import parse_json
from smoothcert.store.connection import FILE_NAME, beside, connect, damaged, store_errors
from smoothcert.store.manifest_fields import check_fields
from smoothcert.store.rows import CertificateRow, CountsRow, FailureRow, VotesRow, rows_of
from smoothcert.store.schema import SCHEMA, foreign_tables
from smoothcert.store.seal import manifest_digest, seal

_MOST_FIELDS, _MOST_MANIFEST = 64, 2**23  # fields, and letters of all of them together
_MOST_STATE = 2**26  # letters of an image's state; one that is larger is drawn anew


StoredRows = tuple[CertificateRow, Sequence[CountsRow], Sequence[VotesRow], str]
"""The rows about one image, and its seal."""


def _create(file: Path) -> bool:
    """Make an empty file and return True, or return False if it is there: only one of two processes wins."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    return True


def refuse_no_run(folder: Path) -> None:
    """Refuse a folder without a run, naming the runs in it if it holds some."""
    if (folder / FILE_NAME).is_file():
        return
    inside = sorted(path.parent.name for path in folder.glob(f"*/{FILE_NAME}"))
    fix = (
        f"give one of the runs in it: {', '.join(inside[:8])}" if inside else "`smoothcert certify` makes one"
    )
    raise StoreError(f"{folder} is not a run folder: it has no {FILE_NAME}; {fix}")


def _delete(connection: sqlite3.Connection, indices: Sequence[int]) -> None:
    for table in ("votes", "counts", "seals", "certificates", "failures"):
        connection.executemany(f"DELETE FROM {table} WHERE idx = ?", [(index,) for index in indices])


class RunDatabase:
    """Reads and writes one run. One transaction per finished image; a crash loses at most what is under way.

    Not shared between processes that write. Every failure of the database is a `StoreError`.

    Args:
        folder: the run folder; None keeps the run in memory.
        writable: False opens an existing run for reading only.
        whole: False leaves out the look at every page of the file, for who only wants to know how far it is.
    """

    def __init__(self, folder: Path | None, *, writable: bool, whole: bool = True) -> None:
        self.folder = folder
        self.where = "memory" if folder is None else str(folder / FILE_NAME)
        self._digest: str | None = None  # of the manifest, which never changes
        self.known_manifest: dict[str, Any] | None = (
            None  # checked before, and written or held by this process
        )
        self._created = False  # this process, and no other, made the file
        with store_errors("open", self.where):
            if folder is None:
                self._connection = sqlite3.connect(":memory:", isolation_level=None)
                return
            self._created = writable and _create(folder / FILE_NAME)
            try:
                self._connection = connect(folder, writable=writable, whole=whole)
            except BaseException:  # a new one that cannot be opened leaves nothing behind
                self.remove()
                raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with store_errors("write", self.where):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def begin(self, manifest: Mapping[str, Any], origin: Mapping[str, str] | None = None) -> None:
        """Write schema and manifest, together or not at all.

        Args:
            manifest: what identifies the run.
            origin: where an audit may look for what the run was made from; no part of its identity.
        """
        with self._transaction() as connection:
            if connection.execute("SELECT name FROM sqlite_master").fetchone() is not None:
                raise StoreError(
                    f"another process has just begun a run in {self.where}; choose another folder"
                )
            for statement in SCHEMA:
                connection.execute(statement)
            rows = [(field, json.dumps(value)) for field, value in manifest.items()]
            self.known_manifest = self._refuse_unreadable(rows)
            connection.executemany("INSERT INTO manifest VALUES (?, ?)", rows)
            connection.executemany("INSERT INTO origin VALUES (?, ?)", list((origin or {}).items()))

    def _refuse_unreadable(self, rows: list[tuple[str, str]]) -> dict[str, Any]:
        """Return a manifest as it will be read; refuse, before the first vote, one that no reader would take."""
        manifest = {field: json.loads(value) for field, value in rows}
        if self.folder is not None:
            try:
                check_fields(manifest)
            except ValueError as error:
                raise StoreError(
                    f"this run cannot be stored: {error}; keep it in memory (out=None)"
                ) from error
        return manifest

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest as it is written, for who checks it; None if the run never got as far as writing it."""
        if not self.rows("SELECT name FROM sqlite_master LIMIT 1"):
            return None
        fields, left = dict[str, Any](), _MOST_MANIFEST
        with self.checking():
            for field, value in self.each(f"SELECT field, value FROM manifest LIMIT {_MOST_FIELDS}"):
                if not isinstance(field, str) or not isinstance(value, str) or len(value) > left:
                    raise ValueError("its manifest is larger than any, or not of text")
                left -= len(value)
                fields[field] = parse_json(value, f"field {field!r} of its manifest", FormatError)
        return fields

    def checked_manifest(self) -> dict[str, Any] | None:
        """Return the manifest, every field of it as a run writes it; None if there is none yet."""
        if self.known_manifest is not None:
            return self.known_manifest
        manifest = self.manifest()
        if manifest is not None:
            with self.checking():
                check_fields(manifest)
        return manifest

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Turn the ValueError of a check of what was read into the refusal of the whole file."""
        try:
            yield
        except ValueError as error:
            raise self.damaged(str(error)) from error

    def damaged(self, what: str) -> DamagedRunError:
        """Return the error for a file with something in it that no run has."""
        return damaged(self.where, what)

    def add(self, certificate: Certificate, label: int, *, instead: bool = False) -> None:
        """Store one finished image.

        Args:
            certificate: of the image.
            label: its class.
            instead: take the place of what is stored about the image, whole or not at all: for one that can grow.
        """
        row, counts, votes = rows_of(certificate, label)
        with self._transaction() as connection:
            if instead:
                _delete(connection, [row.idx])
            self._insert(row, counts, votes, seal(self.sealing_digest(), row, counts, votes))
            for table in ("unfinished", "failures"):
                connection.execute(f"DELETE FROM {table} WHERE idx = ?", (row.idx,))

    def add_stored(self, images: Iterable[StoredRows], failures: Iterable[FailureRow] = ()) -> None:
        """Store rows that another run holds, with seals for this one, all or none."""
        with self._transaction() as connection:
            for rows in images:
                self._insert(*rows)
            connection.executemany("INSERT INTO failures VALUES (?, ?, ?)", failures)

    def _insert(
        self, row: CertificateRow, counts: Sequence[CountsRow], votes: Sequence[VotesRow], sealed: str
    ) -> None:
        execute, many = self._connection.execute, self._connection.executemany
        execute("INSERT INTO certificates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        many("INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", counts)
        many("INSERT INTO votes VALUES (?, ?, ?)", votes)
        execute("INSERT INTO seals VALUES (?, ?)", (row.idx, sealed))

    def add_failure(self, row: FailureRow) -> None:
        """Store why an image has no certificate; nothing of it is kept beside."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", row)
            connection.execute("DELETE FROM unfinished WHERE idx = ?", (row.idx,))

    def save_heartbeat(self, state: Mapping[str, Any]) -> None:
        """Store how the run is getting on, in the place of what was known before."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO heartbeat VALUES (0, ?)", (json.dumps(state),))

    def withdraw(self, indices: Sequence[int]) -> None:
        """Delete finished images, and all states of images under way."""
        with self._transaction() as connection:
            _delete(connection, indices)
            connection.execute("DELETE FROM unfinished")

    def sealing_digest(self) -> str:
        """Return the digest of the manifest, which every seal is about."""
        if self._digest is None:
            self._digest = manifest_digest(self._connection.execute("SELECT field, value FROM manifest"))
        return self._digest

    def foreign_tables(self) -> list[str]:
        """Return what in this file is not as a run has it."""
        return list(foreign_tables(self.rows("SELECT type, name, sql FROM sqlite_master")))

    def check_integrity(self) -> None:
        """Refuse a file whose indexes disagree with its tables: readers that use the one or the other see two runs."""
        with store_errors("read", self.where):
            state = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if state != "ok":
                raise sqlite3.DatabaseError(f"the file fails its integrity check: {state}")

    def has_unfinished(self) -> bool:
        """Return whether a state of an image under way is stored."""
        return bool(self.rows("SELECT idx FROM unfinished LIMIT 1"))

    def save_unfinished(self, states: Mapping[int, Any]) -> None:
        """Store the state of images under way, replacing older ones."""
        with self._transaction() as connection:
            rows = [(index, json.dumps(state)) for index, state in states.items()]
            kept = [row for row in rows if len(row[1]) <= _MOST_STATE]
            connection.executemany("INSERT OR REPLACE INTO unfinished VALUES (?, ?)", kept)

    def unfinished(self, index: int) -> Any:
        """Return the state of an image under way as it is stored, for whoever checks it; None for none.

        One that is no JSON is none: the image is drawn anew.
        """
        # One at a time: a file may hold any number of them.
        small = f"typeof(state) = 'text' AND length(state) <= {_MOST_STATE}"
        rows = self.rows(f"SELECT state FROM unfinished WHERE idx = {index:d} AND {small}")
        with contextlib.suppress(DamagedRunError):
            return parse_json(rows[0][0], f"the state of image {index}", DamagedRunError) if rows else None
        return None

    def each(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one."""
        with store_errors("read", self.where):
            # Not `yield from`: closed with the generator, the cursor would miss its connection.
            cursor = self._connection.execute(query)
            while (row := cursor.fetchone()) is not None:
                yield row

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with store_errors("read", self.where):
            return self._connection.execute(query).fetchall()

    def close(self, *, finished: bool = False) -> None:
        """Close; a finished run becomes one plain file that read-only places can hold."""
        with store_errors("close", self.where):
            if finished and self.folder is not None:
                # A panel's first run may have been ahead of the others, and keeps the states of all of them.
                self._connection.execute("DELETE FROM unfinished")
                self._connection.execute("DELETE FROM heartbeat")
                # Refused while somebody is reading; all is stored anyway.
                with contextlib.suppress(sqlite3.OperationalError):
                    self._connection.execute("PRAGMA journal_mode=DELETE")
            self._connection.close()

    def remove(self) -> None:
        """Delete the closed database's files, if this process made them."""
        if self.folder is None or not self._created:
            return
        with contextlib.suppress(OSError):
            for file in beside(self.folder):
                file.unlink(missing_ok=True)
