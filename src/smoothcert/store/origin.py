"""What a run notes of where it comes from, beside its manifest: places to look at, and the share of a plan.

No part of a run's identity, and anybody may have changed it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from smoothcert.data import Dataset
from smoothcert.store.database import RunDatabase
from smoothcert.store.pieces.share import Share

PLACES = ("model", "weights", "data_dir", "plan")
SHARD = "shard"


def origin_of(
    out: Path | None,
    model: str | Path | None,
    dataset: Dataset,
    weights: Path | None = None,
) -> dict[str, str]:
    """Say where model, its weights and data are as seen from the run folder, so that all may be moved together."""
    places = {"model": model, "weights": weights, "data_dir": dataset.data_dir}
    return {} if out is None else seen_from(out, places)


def seen_from(folder: Path, places: dict[str, Any]) -> dict[str, str]:
    """Return places as seen from a folder; what is None is left out."""
    start = folder.resolve()
    return {
        name: os.path.relpath(Path(place).resolve(), start)
        for name, place in places.items()
        if place is not None
    }


def noted_places(database: RunDatabase) -> dict[str, Path]:
    """Return the places that a run noted, as seen from its folder; what is no place is left out."""
    if database.folder is None:
        return {}
    noted = database.rows("SELECT field, value FROM origin")
    return {
        field: (database.folder / place).resolve()
        for field, place in noted
        if field in PLACES and isinstance(place, str) and "\0" not in place
    }


def noted_share(database: RunDatabase) -> Share | None:
    """Return the share of a plan that a run folder is for; None for a whole run."""
    rows = database.rows(f"SELECT value FROM origin WHERE field = '{SHARD}'")
    with database.checking():
        return Share.read(rows[0][0]) if rows else None
