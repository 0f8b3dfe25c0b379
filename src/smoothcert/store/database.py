"""The run folder's database: one SQLite file that survives a crash at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smoothcert.certificates import Certificate
from smoothcert.errors import DamagedRunError, StoreError
from smoothcert.store.schema import SCHEMA, foreign_tables
from smoothcert.store.seal import manifest_digest, seal

FILE_NAME = "run.sqlite"


def _value(field: Any, text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        raise sqlite3.DatabaseError(f"field {field!r} of its manifest is no JSON: {error}") from error


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


class RunDatabase:
    """Reads and writes one run. One transaction per finished image; a crash loses at most what is under way.

    Not shared between processes that write. Every failure of the database is a `StoreError`.

    Args:
        folder: the run folder; None keeps the run in memory.
        writable: False opens an existing run for reading only.
    """

    def __init__(self, folder: Path | None, *, writable: bool) -> None:
        self.folder = folder
        self.where = "memory" if folder is None else str(folder / FILE_NAME)
        self._digest: str | None = None  # of the manifest, which never changes
        self._created = False  # this process, and no other, made the file
        self._made: list[Path] = []  # folders that were not there before, innermost first
        with self._errors("open"):
            if folder is None:
                self._connection = sqlite3.connect(":memory:", isolation_level=None)
            else:
                self._open(folder, writable)

    def _open(self, folder: Path, writable: bool) -> None:
        """Open the file; a new one that cannot be opened leaves nothing behind."""
        file = folder / FILE_NAME
        try:
            if writable:
                self._made = [path for path in (folder, *folder.parents) if not path.exists()]
                folder.mkdir(parents=True, exist_ok=True)
                self._created = _create(file)
            mode = "rwc" if writable else "ro"
            self._connection = sqlite3.connect(
                f"{file.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None
            )
            self._prepare(file, writable)
        except BaseException:
            self.remove()
            raise

    def _prepare(self, file: Path, durable: bool) -> None:
        try:
            # SQLite reads what is missing of a last page as zeros. While there is a log, that page is in it.
            log = file.with_name(f"{FILE_NAME}-wal")
            page_size = self._connection.execute("PRAGMA page_size").fetchone()[0]
            if file.stat().st_size % page_size and not (log.exists() and log.stat().st_size):
                raise sqlite3.DatabaseError("the file is cut short")
            if self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("the file fails its consistency check")
            if durable:
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Turn what SQLite or the file system raises into one sentence with the fix."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error) or "I/O" in str(error):
                raise StoreError(
                    f"cannot {doing} {self.where}: {error}; free some space and continue with resume"
                ) from error
            if "decode" in str(error):  # a text that is no UTF-8
                raise DamagedRunError(
                    f"{self.where} is damaged ({error}); restore it from a copy or start a new run"
                ) from error
            raise StoreError(f"cannot {doing} {self.where}: {error}") from error
        except sqlite3.IntegrityError as error:
            raise StoreError(
                f"{self.where} already holds this image ({error}); is another process writing to the same run?"
            ) from error
        except sqlite3.DatabaseError as error:
            raise DamagedRunError(
                f"{self.where} is damaged or no run database ({error}); restore it from a copy or start a new run"
            ) from error
        except OSError as error:
            raise StoreError(f"cannot {doing} {self.where}: {error.strerror or error}") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._errors("write"):
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
            connection.executemany("INSERT INTO manifest VALUES (?, ?)", rows)
            connection.executemany("INSERT INTO origin VALUES (?, ?)", list((origin or {}).items()))

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest, or None if the run never got as far as writing it."""
        with self._errors("read"):
            tables = [name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")]
            if not tables:
                return None
            if "manifest" not in tables:
                raise sqlite3.DatabaseError("it has tables, but no manifest")
            rows = self._connection.execute("SELECT field, value FROM manifest").fetchall()
            return {field: _value(field, value) for field, value in rows}

    def add(self, certificate: Certificate, label: int) -> None:
        """Store one finished image."""
        c = certificate
        with self._transaction() as connection:
            row = (
                c.index,
                label,
                c.outcome.name,
                c.predicted,
                float(c.radius),  # as it will be read back, for the seal
                float(c.p_lower),
                c.samples,
                c.evaluations,
                c.seconds,
            )
            connection.execute("INSERT INTO certificates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            counts = [
                (
                    c.index,
                    position,
                    tally.phase,
                    tally.purpose,
                    None if tally.radius is None else float(tally.radius),
                    tally.counts.drawn,
                    tally.counts.evaluations,
                    json.dumps(tally.counts.votes.tolist()),
                )
                for position, tally in enumerate(c.tallies)
            ]
            connection.executemany("INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", counts)
            votes = [(c.index, phase, packed) for phase, packed in sorted(c.ballots.items())]
            connection.executemany("INSERT INTO votes VALUES (?, ?, ?)", votes)
            sealed = seal(self._manifest_digest(), row, counts, votes)
            connection.execute("INSERT INTO seals VALUES (?, ?)", (c.index, sealed))
            connection.execute("DELETE FROM unfinished WHERE idx = ?", (c.index,))

    def _manifest_digest(self) -> str:
        if self._digest is None:
            self._digest = manifest_digest(self._connection.execute("SELECT field, value FROM manifest"))
        return self._digest

    def foreign_tables(self) -> list[str]:
        """Return what in this file is not as a run has it."""
        return list(foreign_tables(self.rows("SELECT type, name, sql FROM sqlite_master")))

    def check_integrity(self) -> None:
        """Refuse a file whose indexes disagree with its tables: readers that use the one or the other see two runs."""
        with self._errors("read"):
            found = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(f"the file fails its integrity check: {found}")

    def save_unfinished(self, states: Mapping[int, dict[str, Any]]) -> None:
        """Store the state of images under way, replacing older ones."""
        with self._transaction() as connection:
            rows = [(index, json.dumps(state)) for index, state in states.items()]
            connection.executemany("INSERT OR REPLACE INTO unfinished VALUES (?, ?)", rows)

    def unfinished(self) -> dict[int, dict[str, Any]]:
        """Return the states of images under way, by index."""
        return {index: json.loads(state) for index, state in self.rows("SELECT * FROM unfinished")}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._errors("read"):
            return self._connection.execute(query).fetchall()

    def close(self, *, finished: bool = False) -> None:
        """Close; a finished run becomes one plain file that read-only places can hold."""
        with self._errors("close"):
            if finished and self.folder is not None:
                # A panel's first run may have been ahead of the others, and keeps states for all of them.
                self._connection.execute("DELETE FROM unfinished")
                # Refused while somebody is reading; all is stored anyway.
                with contextlib.suppress(sqlite3.OperationalError):
                    self._connection.execute("PRAGMA journal_mode=DELETE")
            self._connection.close()

    def remove(self) -> None:
        """Delete the closed database's files and folders, as far as this process made them."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            for suffix in ("", "-wal", "-shm", "-journal") if self._created else ():
                (self.folder / f"{FILE_NAME}{suffix}").unlink(missing_ok=True)
            for path in self._made:
                path.rmdir()
