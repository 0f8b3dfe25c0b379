"""Subsets of a split, by the options of the command line or as one text in a recipe."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from itertools import pairwise

from smoothcert.arguments import check_whole
from smoothcert.data.dataset import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief


def select_indices(
    size: int,
    *,
    every: int | None = None,
    first: int | None = None,
    indices: str | None = None,
    offset: int | None = None,
    max: int | None = None,  # the name that the field's scripts give it
) -> tuple[int, ...]:
    """Return the image indices that options choose; all of them when none is given.

    `offset`, `every` and `max` go together, in this order: leave out the first images, take every K-th of the rest, and
    stop after so many. Not a random subset: the same options always choose the same images.

    Args:
        size: number of images in the split.
        every: K chooses every K-th image: 0, K, 2K, ..
        first: N chooses 0 .. N-1; there must be so many.
        indices: parts with commas between them, e.g. "0:100,200:300,7": "A:B" chooses A .. B-1, "A:" goes on to
            the end, "A:B:K" takes every K-th of them ("1::20" is 1, 21, ..), "A" is one image.
        offset: images to leave out at the beginning, so that K with offset A chooses A, A+K, ..
        max: most images to choose. A count: the field's scripts compare theirs with an index instead, so that of
            every 20th image their max of 500 would choose the 25 below image 500.
    """
    options = {"every": every, "first": first, "indices": indices, "offset": offset, "max": max}
    given = sorted(name for name, value in options.items() if value is not None)
    if len(given) > 1 and (first is not None or indices is not None):
        raise InvalidArgumentError(
            f"first and indices choose alone, every, offset and max together; got {' and '.join(given)}"
        )
    if first is not None:
        if not 1 <= first <= size:
            raise InvalidArgumentError(
                f"first must lie in 1..{size}, the number of images in the split, got {first}"
            )
        return tuple(range(first))
    if indices is not None:
        return _places(size, indices)
    for name in ("every", "max"):
        if (value := options[name]) is not None:
            check_whole(name, value, 1)
    start = 0 if offset is None else check_whole("offset", offset, 0)
    if start >= size:
        raise InvalidArgumentError(f"offset must leave one of the {size} images of the split, got {start}")
    return tuple(range(start, size, every or 1)[:max])


def parse_subset(text: str, size: int) -> tuple[int, ...]:
    """Return the image indices that a text chooses: "all", "every(20)", "first(500)" or parts like "888:1888,7".

    Args:
        text: the choice, as in a recipe; parts are those of `select_indices`.
        size: number of images in the split.
    """
    if text.strip() == "all":
        return select_indices(size)
    match = re.fullmatch(r"\s*(every|first)\s*\(\s*(\d{1,18})\s*\)\s*", text, flags=re.ASCII)
    if match is None and re.fullmatch(r"[\d:,\s]+", text, flags=re.ASCII):
        return select_indices(size, indices=text)
    if match is None:
        raise InvalidArgumentError(
            f"a subset must look like all, every(20), first(500) or 888:1888,7, got {brief(text)}"
        )
    if match[1] == "every":
        return select_indices(size, every=int(match[2]))
    return select_indices(size, first=int(match[2]))


def _places(size: int, text: str) -> tuple[int, ...]:
    """Read parts with commas between them, in ascending order; an image may be chosen once only."""
    chosen: list[int] = []
    for part in text.split(","):
        chosen += _part(size, part, text)
    chosen.sort()
    for place, following in pairwise(chosen):
        if place == following:
            raise InvalidArgumentError(
                f"indices must choose an image once, but {text!r} chooses {place} again"
            )
    return tuple(chosen)


def _part(size: int, part: str, text: str) -> range:
    """Read "A", "A:B", "A:" or "A:B:K" as places within 0..size-1."""
    pattern = r"\s*(\d{1,18})\s*(:\s*(\d{1,18})?\s*(?::\s*(\d{1,18})\s*)?)?"
    match = re.fullmatch(pattern, part, flags=re.ASCII)
    if match is None:
        raise InvalidArgumentError(
            f"indices must look like 10:20 or 3,5,9 or 10: (end left out) or 0:100:5,200:300,7, got {brief(text)}"
        )
    start, step = int(match[1]), int(match[4] or 1)
    stop = start + 1 if match[2] is None else int(match[3] or size)
    if not (start < stop <= size and step >= 1):
        raise InvalidArgumentError(
            f"indices must choose at least one image and end at {size} at most, the number of images in the "
            f"split, got {text!r}"
        )
    return range(start, stop, step)


def check_indices(dataset: Dataset, indices: Sequence[int] | None) -> tuple[int, ...]:
    """Return the images chosen, each once; all for None."""
    if indices is None:
        return tuple(range(len(dataset)))
    try:
        chosen = tuple(operator.index(index) for index in indices)
    except TypeError as error:
        raise InvalidArgumentError(
            f"indices must be a list of whole numbers, got {brief(indices)}"
        ) from error
    wrong = [index for index in chosen if not 0 <= index < len(dataset)]
    if wrong or not chosen or len(set(chosen)) != len(chosen):
        raise InvalidArgumentError(
            f"indices must be different numbers from 0 to {len(dataset) - 1}, at least one, got "
            f"{wrong[0] if wrong else list(chosen)[:10]}"
        )
    return chosen
