"""Seals: a digest over everything stored about an image, so that no value can change unnoticed by itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any


def manifest_digest(rows: Iterable[Sequence[str]]) -> str:
    """Return a digest of the manifest's (field, value) rows, in whatever order they come."""
    return hashlib.sha256(json.dumps(sorted([list(row) for row in rows])).encode()).hexdigest()


def seal(
    manifest: str,
    certificate: Sequence[Any],
    counts: Iterable[Sequence[Any]],
    votes: Iterable[tuple[int, str, bytes]],
) -> str:
    """Return the seal of one image: SHA-256 over the manifest's digest and the rows stored about it.

    Not a signature: who knows this function can seal what he has changed. It catches accidents and a hand that
    changes one number; against a forger there is only drawing votes again.

    Args:
        manifest: what `manifest_digest` returned.
        certificate: the image's row.
        counts: its rows of counts, in their order.
        votes: its rows of packed votes, in the order of their phases' names.
    """
    packed_votes = [[index, phase, _digest(packed)] for index, phase, packed in votes]
    content = [manifest, list(certificate), [list(row) for row in counts], packed_votes]
    # A forged row may hold anything; what JSON cannot say is said by its text.
    return hashlib.sha256(json.dumps(content, default=repr).encode()).hexdigest()


def _digest(packed: Any) -> str:
    return hashlib.sha256(packed if isinstance(packed, bytes) else repr(packed).encode()).hexdigest()
