"""The folders of runs: held by one process, read before they are continued, begun whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smoothcert.errors import ManifestMismatchError, StoreError
from smoothcert.locking import Holder, holder_of, only_one_in
from smoothcert.store.connection import FILE_NAME
from smoothcert.store.database import RunDatabase
from smoothcert.store.origin import noted_share
from smoothcert.store.pieces.share import Share
from smoothcert.store.run import Run

_LOCK_FILE = ".run.lock"


@contextmanager
def hold(folder: Path | None) -> Iterator[None]:
    """Keep other processes from certifying into a folder; None stands for memory.

    Readers are not kept out. A folder that is not there is made, and removed if nothing was written into it.
    """
    if folder is None:
        yield
        return
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file; choose a folder for the run")
    with only_one_in(folder, _LOCK_FILE, "certification", StoreError):
        yield


def who_writes(folder: Path) -> Holder | None:
    """Return the process that certifies into a folder, or did when it was killed; None for nobody."""
    return holder_of(folder, _LOCK_FILE)


@contextmanager
def opened(folder: Path | None, resume: bool, share: Share | None = None) -> Iterator[dict[str, Any] | None]:
    """Hold a run folder, and give the manifest of the run to continue in it; None for a new one.

    Args:
        folder: the run folder; None for memory.
        resume: whether there may be a run.
        share: of a plan that is to be drawn; None for a whole run.
    """
    with hold(folder):
        stored = _stored_manifest(folder, resume)
        _refuse_other_share(folder, stored, share)
        yield stored


def _stored_manifest(folder: Path | None, resume: bool) -> dict[str, Any] | None:
    """Return the manifest of a run to continue, all its rows checked; refuse an existing run without resume."""
    if folder is None or not (folder / FILE_NAME).exists():
        return None
    if not resume:
        raise StoreError(
            f"{folder} already holds a run; continue it with resume (--resume) or choose another folder"
        )
    database = RunDatabase(folder, writable=False)
    try:
        if database.checked_manifest() is None:
            return None
        return Run.read(database, folder.name).manifest  # what is damaged is refused before the first vote
    finally:
        database.close()


def begin(
    folder: Path | None, stored: dict[str, Any] | None, manifest: dict[str, Any], origin: dict[str, str]
) -> RunDatabase:
    """Open a run's database and write the manifest if the run is new; what cannot be begun leaves nothing behind.

    Args:
        folder: the run folder; None keeps the run in memory.
        stored: the manifest of a run to continue; None for a new one.
        manifest: what identifies the run.
        origin: where an audit may look for what the run was made from.
    """
    database = RunDatabase(folder, writable=True)
    try:
        database.known_manifest = stored
        if stored is None:
            database.begin(manifest, origin)
    except BaseException:
        database.close()
        database.remove()
        raise
    return database


def _refuse_other_share(folder: Path | None, stored: dict[str, Any] | None, share: Share | None) -> None:
    """Refuse to continue a run folder that is for other images of the same manifest: its name would tell a lie."""
    if folder is None or stored is None:
        return
    database = RunDatabase(folder, writable=False, whole=False)
    try:
        there = noted_share(database)
    finally:
        database.close()
    if there != share:
        raise ManifestMismatchError(
            f"cannot resume {folder}: it holds {_what(there)}, and {_what(share)} is asked for; use the same, or start "
            "a new run elsewhere"
        )


def _what(share: Share | None) -> str:
    return "a whole run" if share is None else f"shard {share} of a plan"
