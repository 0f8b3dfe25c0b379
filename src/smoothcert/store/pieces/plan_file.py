"""The plan of a run that several machines draw: its manifest, written once before the first vote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smoothcert.atomic import check_target, write_atomically
from smoothcert.errors import FormatError, StoreError
from smoothcert.reading import parse_json, read_bytes
from smoothcert.store.manifest_fields import check_fields
from smoothcert.store.origin import PLACES, seen_from
from smoothcert.store.seal import manifest_digest

KIND = "smoothcert plan"
_FORMAT = 1
_FIELDS = {"kind", "format", "manifest", "places", "digest"}
_MOST_BYTES = 2**24


@dataclass(frozen=True)
class RunPlan:
    """What all shards of a run have in common. Holds the secret seed of its noise: who has it can foresee every vote.

    Args:
        path: of the file.
        manifest: of the whole run: seed, resolved engine, images and all that decides a vote.
        places: where model, weights and data were when it was made.
    """

    path: Path
    manifest: dict[str, Any]
    places: Mapping[str, Path]


def refuse_plan(path: Path) -> None:
    """Refuse a place where a plan, or anything else, stands already: its shards would belong to no plan."""
    if check_target(path) is not None:
        raise StoreError(
            f"{path} is there already, and shards of it may be under way; choose another name for the new plan"
        )


def write_plan(path: Path, manifest: Mapping[str, Any], places: Mapping[str, Any]) -> RunPlan:
    """Write a plan that only its owner can read (mode 0600), whole or not at all.

    Args:
        path: of the file, which must not be there.
        manifest: of the whole run.
        places: where model, weights and data are; noted as seen from the plan, so that all may be moved together.
    """
    refuse_plan(path)
    try:
        check_fields(manifest)
    except ValueError as error:
        raise StoreError(f"this run cannot be stored, and so not be planned: {error}") from error
    content = {
        "kind": KIND,
        "format": _FORMAT,
        "digest": _digest(manifest),
        "places": seen_from(path.parent, dict(places)),
        "manifest": dict(manifest),
    }
    write_atomically(path, json.dumps(content, indent=1) + "\n", private=True)
    return read_plan(path)


def read_plan(path: Path) -> RunPlan:
    """Read a plan; refuse one that was changed since it was written, naming what is wrong."""
    told = parse_json(read_bytes(path, StoreError, most=_MOST_BYTES), str(path), FormatError)
    if not isinstance(told, dict) or told.get("kind") != KIND:
        raise FormatError(f"{path} is no plan; `smoothcert certify .. --plan FILE` writes one")
    if set(told) != _FIELDS or told["format"] != _FORMAT:
        raise FormatError(f"{path} is a plan of another version of smoothcert; make a new one")
    manifest, places = told["manifest"], told["places"]
    try:
        if not isinstance(manifest, dict) or not isinstance(places, dict):
            raise ValueError("its manifest or its places are missing")
        check_fields(manifest)
    except ValueError as error:
        raise FormatError(
            f"{path} cannot be a plan as it was written: {error}; restore it from a copy"
        ) from error
    if told["digest"] != _digest(manifest):
        raise FormatError(
            f"{path} was changed after it was written (other digest): its shards would not fit the others; restore it "
            "from a copy"
        )
    known = {
        name: (path.parent / place).resolve()
        for name, place in places.items()
        if name in PLACES and isinstance(place, str) and "\0" not in place
    }
    return RunPlan(path, manifest, known)


def _digest(manifest: Mapping[str, Any]) -> str:
    return manifest_digest([(field, json.dumps(value)) for field, value in manifest.items()])
