"""A connection to a run's SQLite file that neither hangs nor swells, whatever stands there."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smoothcert.errors import DamagedRunError, StoreError
from smoothcert.store.schema import foreign_tables

FILE_NAME = "run.sqlite"
_MOST_READ, _MOST_WRITTEN = 2**26, 2**28  # bytes of one value: the packed votes of most images have thousands
_SCHEMA_STEPS = 1_000  # times a thousand steps of SQLite: a thousand times what the tables of a run take
_BESIDE = ("", "-wal", "-shm", "-journal")


def connect(folder: Path, *, writable: bool, whole: bool = True) -> sqlite3.Connection:
    """Open the file of a run folder; raise what `store_errors` turns into a sentence.

    Args:
        folder: the run folder.
        writable: False opens an existing run for reading only.
        whole: False leaves out the look at every page of the file.
    """
    file = folder / FILE_NAME
    for path in beside(folder):
        _refuse_special(path)
    mode = "rwc" if writable else "ro"
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_WRITTEN if writable else _MOST_READ)
        _check(connection, file, whole)
        if writable:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def beside(folder: Path) -> list[Path]:
    """Return the files that SQLite may keep for a run, whether they are there or not."""
    return [folder / f"{FILE_NAME}{suffix}" for suffix in _BESIDE]


@contextmanager
def store_errors(doing: str, where: str) -> Iterator[None]:
    """Turn what SQLite or the file system raises into one sentence with the fix."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text or "I/O" in text:
            raise StoreError(
                f"cannot {doing} {where}: {error}; free some space and continue with resume"
            ) from error
        if "decode" in text or "interrupted" in text:  # no text, or a schema that never ends
            raise damaged(where, error) from error
        raise StoreError(f"cannot {doing} {where}: {error}") from error
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"{where} already holds this image ({error}); is another process writing to the same run?"
        ) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise damaged(where, error) from error
    except OSError as error:
        raise StoreError(f"cannot {doing} {where}: {error.strerror or error}") from error


def damaged(where: str, what: object) -> DamagedRunError:
    """Return the error for a file that is no run's, or holds what no run holds."""
    return DamagedRunError(
        f"{where} is damaged or no run database ({what}); restore it from a copy or start a new run"
    )


def _refuse_special(path: Path) -> None:
    """Refuse a pipe or device, also behind a link: opening it could wait for ever."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise sqlite3.DatabaseError(f"{path.name} is no regular file")


def _check(connection: sqlite3.Connection, file: Path, whole: bool) -> None:
    """Look at the file as a whole before any row of it is read."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    # SQLite reads what is missing of a last page as zeros. While there is a log, that page is in it.
    log = file.with_name(f"{FILE_NAME}-wal")
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    if file.stat().st_size % page_size and not (log.exists() and log.stat().st_size):
        raise sqlite3.DatabaseError("the file is cut short")
    # The tables first: views, and conditions on columns, could be made to take for ever.
    _check_tables(connection, file)
    if whole and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("the file fails its consistency check")


def _check_tables(connection: sqlite3.Connection, file: Path) -> None:
    """Refuse a file whose tables are not exactly a run's; one without any is a run that never began."""
    steps = iter(range(_SCHEMA_STEPS))
    connection.set_progress_handler(lambda: int(next(steps, None) is None), 1_000)
    master = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 100").fetchall()
    connection.set_progress_handler(None, 0)
    foreign = next(iter(foreign_tables(master)), None) if master else None
    if foreign is None:
        return
    if "manifest" not in [name for _, name, _ in master]:
        foreign = "it has tables, but no manifest: table 'manifest' is missing"
    raise DamagedRunError(  # a view could tell this reader another radius than the next one
        f"{file} is no run, or was changed by another program: {foreign}: other readers may see other values; restore "
        "it from a copy"
    )
