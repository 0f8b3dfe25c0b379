"""The tables of a run's database, and whether a file has these and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

SCHEMA = (
    "CREATE TABLE manifest (field TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE certificates (
        idx INTEGER PRIMARY KEY, label INTEGER NOT NULL, outcome TEXT NOT NULL, predicted INTEGER,
        radius REAL NOT NULL, p_lower REAL NOT NULL, samples INTEGER NOT NULL, evaluations INTEGER NOT NULL,
        seconds REAL NOT NULL)""",
    """CREATE TABLE counts (
        idx INTEGER NOT NULL, position INTEGER NOT NULL, phase TEXT NOT NULL, purpose TEXT NOT NULL,
        radius REAL, drawn INTEGER NOT NULL, evaluations INTEGER NOT NULL, votes TEXT NOT NULL,
        PRIMARY KEY (idx, position))""",
    "CREATE TABLE unfinished (idx INTEGER PRIMARY KEY, state TEXT NOT NULL)",
    """CREATE TABLE votes (
        idx INTEGER NOT NULL, phase TEXT NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (idx, phase))""",
    "CREATE TABLE seals (idx INTEGER PRIMARY KEY, digest TEXT NOT NULL)",
    "CREATE TABLE origin (field TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE failures (idx INTEGER PRIMARY KEY, label INTEGER NOT NULL, reason TEXT NOT NULL)",
    "CREATE TABLE heartbeat (only INTEGER PRIMARY KEY CHECK (only = 0), state TEXT NOT NULL)",
)


def foreign_tables(master: Iterable[tuple[str, str, str | None]]) -> Iterator[str]:
    """Yield what a database has that no run has, or lacks.

    A view, or a column under another's name, could show each reader another value.

    Args:
        master: (type, name, sql) of everything in the file, as `sqlite_master` lists it.
    """
    known = {_name(statement): _plain(statement) for statement in SCHEMA}
    missing = set(known)
    for kind, name, sql in master:
        if kind == "index" and sql is None:  # SQLite's own, of a primary key
            continue
        missing.discard(name)
        if name not in known:
            yield f"{kind} {name!r} belongs to no run"
        elif kind != "table" or _plain(sql or "") != known[name]:
            yield f"{kind} {name!r} is not as a run has it"
    yield from (f"table {name!r} is missing" for name in sorted(missing))


def _name(statement: str) -> str:
    return _plain(statement).split()[2]


def _plain(statement: str) -> str:
    """Return a statement as SQLite keeps it, whatever its spaces."""
    return re.sub(r"\s+", " ", statement).strip()
