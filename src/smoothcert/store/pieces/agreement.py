"""Whether runs are pieces of one run: the same manifest, or manifests that differ in their images alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.amounts import amount
from smoothcert.errors import ManifestMismatchError, StoreError
from smoothcert.store.manifest import differences
from smoothcert.store.manifest_fields import check_fields

_TEXT = "{} is {} and {}"
_SECRET = "seed"


def joined_manifest(manifests: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest of the run that some are pieces of; refuse what are none, naming every field.

    Pieces of one plan have the same manifest, images included. A run and its extension differ in their images, and
    have none in common.

    Args:
        manifests: by run folder, at least one, all checked.
    """
    (first, common), *others = manifests.items()
    lists: dict[tuple[int, ...], Path] = {tuple(common["indices"]): first}
    for folder, manifest in others:
        differing = field_differences(common, manifest)
        if differing:
            raise ManifestMismatchError(
                f"{first} and {folder} are not of one plan: {'; '.join(differing)}; merge runs of one plan only"
            )
        lists.setdefault(tuple(manifest["indices"]), folder)
    if len(lists) == 1:
        return dict(common)
    joined = {**common, "indices": _union(lists)}
    try:
        check_fields(joined)
    except ValueError as error:
        raise StoreError(f"no run can be so large: {error}") from error
    return joined


def field_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return a text for every field in which two manifests differ, but for their images.

    Secret seeds are not told.
    """
    secret = ["seed differs"] if one[_SECRET] != other[_SECRET] else []
    return [*secret, *differences(_told(one), _told(other), _TEXT)]


def _told(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in manifest.items() if field not in ("indices", _SECRET)}


def _union(lists: Mapping[tuple[int, ...], Path]) -> list[int]:
    owner: dict[int, Path] = {}
    for indices, folder in lists.items():
        for index in indices:
            if owner.setdefault(index, folder) != folder:
                raise StoreError(
                    f"{owner[index]} and {folder} are of different plans that both list image {index}; an extension "
                    "is made of other images (certify --extend)"
                )
    return sorted(owner)


def gap_text(missing: Sequence[int], shares: Sequence[str]) -> str:
    """Return which images no piece has, and which shards these may be in.

    Args:
        missing: images, at least one.
        shares: "3/16" of each piece that is a share.
    """
    some = ", ".join(map(str, missing[:5])) + (", .." if len(missing) > 5 else "")
    parts = {share.partition("/")[2] for share in shares}
    told = ""
    if len(parts) == 1:
        of = int(parts.pop())
        absent = [number for number in range(1, of + 1) if f"{number}/{of}" not in shares]
        listed = ", ".join(f"{number}/{of}" for number in absent[:8]) + (", .." if len(absent) > 8 else "")
        told = (
            f"; not among them: shard {listed}" if absent else "; every shard is among them, but not finished"
        )
    verb = "is" if len(missing) == 1 else "are"
    return f"{amount(len(missing), 'image')} {verb} in none of these runs ({some}){told}"
