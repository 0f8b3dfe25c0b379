"""The folders of runs: held by one process, read before they are continued, begun whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smoothcert.data import Dataset
from smoothcert.errors import StoreError
from smoothcert.locking import only_one_in
from smoothcert.store.connection import FILE_NAME
from smoothcert.store.database import RunDatabase
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


def stored_manifest(folder: Path | None, resume: bool) -> dict[str, Any] | None:
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


def origin_of(
    out: Path | None, model: str | Path | None, dataset: Dataset, weights: Path | None = None
) -> dict[str, str]:
    """Say where model, its weights and data are as seen from the run folder, so that all may be moved together."""
    places = {"model": model, "weights": weights, "data_dir": dataset.data_dir}
    if out is None:
        return {}
    start = out.resolve()
    return {
        name: os.path.relpath(Path(place).resolve(), start)
        for name, place in places.items()
        if place is not None
    }
