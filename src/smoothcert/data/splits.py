"""The hold-out: a fixed part of the training images, and never of the test images.

Its size is 5,000, or a tenth of the training images where there are fewer than 50,000, unless another is asked for;
papers train on all images, or hold out as many as they say. Published sets of arrays give their last training images;
folders of pictures, whose order is the alphabet's, give those whose names have the smallest keyed hash.
"""

from __future__ import annotations

import hashlib
from typing import Any

from smoothcert.errors import DataError

HOLDOUT = 5_000  # largest number of images held out
SPLITS = ("train", "holdout", "test")


def held_out(setting: Any) -> int | None:
    """Return the size of a hold-out from how recipes and cards write it: a number, "none", or None for the usual."""
    return 0 if setting == "none" else setting


def holdout_size(count: int, wanted: int | None = None) -> int:
    """Return how many of `count` training images are held out.

    Args:
        count: images of the published training files.
        wanted: that many; None for a tenth, at least 1 and at most 5,000.
    """
    if wanted is not None:
        if wanted >= count:
            raise DataError(
                f"a hold-out of {wanted:,} leaves nothing of {count:,} training images; ask for fewer"
            )
        return wanted
    if count < 2:
        raise DataError(f"a hold-out needs at least 2 training images, got {count}; get the whole data set")
    return min(HOLDOUT, max(1, count // 10))


def training_part(split: str, count: int, wanted: int | None = None) -> slice:
    """Return which of `count` training images, in the order of the files, belong to "train" or "holdout"."""
    border = count - holdout_size(count, wanted)
    return slice(0, border) if split == "train" else slice(border, count)


def keyed_fraction(name: str, purpose: str) -> float:
    """Return a number in [0, 1) that depends on the name and the purpose alone, on every machine.

    Args:
        name: of a file, relative to its data set.
        purpose: keeps two choices among the same files independent.
    """
    word = hashlib.sha256(f"smoothcert/1|{purpose}|{name}".encode("utf-8", "surrogateescape")).digest()[:8]
    return (int.from_bytes(word, "big") >> 11) / (1 << 53)
