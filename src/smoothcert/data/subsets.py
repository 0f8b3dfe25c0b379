"""Subsets of a split, in the three ways the command line offers."""

from __future__ import annotations

import re

from smoothcert.errors import InvalidArgumentError


def select_indices(
    size: int, *, every: int | None = None, first: int | None = None, indices: str | None = None
) -> tuple[int, ...]:
    """Return the image indices that one option chooses; all of them when none is given.

    Not a random subset: the same option always chooses the same images.

    Args:
        size: number of images in the split.
        every: K chooses 0, K, 2K, ..
        first: N chooses 0 .. N-1.
        indices: "A:B" chooses A .. B-1; "A:" goes on to the end.
    """
    options = {"every": every, "first": first, "indices": indices}
    given = {name: value for name, value in options.items() if value is not None}
    if len(given) > 1:
        raise InvalidArgumentError(
            f"give at most one of every, first and indices, got {' and '.join(sorted(given))}"
        )
    if every is not None:
        if every < 1:
            raise InvalidArgumentError(f"every must be at least 1, got {every}")
        return tuple(range(0, size, every))
    if first is not None:
        if not 1 <= first <= size:
            raise InvalidArgumentError(
                f"first must lie in 1..{size}, the number of images in the split, got {first}"
            )
        return tuple(range(first))
    if indices is not None:
        return _slice(size, indices)
    return tuple(range(size))


def _slice(size: int, text: str) -> tuple[int, ...]:
    """Read "A:B" or "A:" as a half-open range within 0..size."""
    match = re.fullmatch(r"\s*(\d+)\s*:\s*(\d+)?\s*", text, flags=re.ASCII)
    if match is None:
        raise InvalidArgumentError(f"indices must look like 10:20 or 10: (end left out), got {text!r}")
    start, stop = int(match[1]), int(match[2]) if match[2] else size
    if not start < stop <= size:
        raise InvalidArgumentError(
            f"indices must choose at least one image and end at {size} at most, the number of images in the "
            f"split, got {text!r}"
        )
    return tuple(range(start, stop))
