"""Pictures that stay in their files until they are asked for; stands where a data set keeps its array of images."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.decoding import decode_pictures
from smoothcert.data.picture import CROP, MOST_PICTURE_BYTES, RESIZE
from smoothcert.errors import DataError
from smoothcert.reading import read_bytes

_READ_WHOLE = 1_000  # files whose bytes go into the digest


class PictureFiles:
    """Picture files that read like a uint8 array of shape (N, 3, 224, 224).

    Not a cache: each access decodes again, in worker processes where it is many. Not an array either: it can be
    indexed by a list of places, and nothing else.

    Args:
        root: folder that the names are relative to.
        names: one file name per picture, with "/" between its parts.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, root: Path, names: Sequence[str]) -> None:
        self.root, self.names = root, tuple(names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array that all pictures would make."""
        return (len(self.names), 3, CROP, CROP)

    def __getitem__(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self.decode(indices)

    def decode(
        self, indices: Sequence[int] | NDArray[np.integer[Any]], numbers: NDArray[np.float64] | None = None
    ) -> NDArray[np.uint8]:
        """Decode the pictures at `indices`, (len(indices), 3, 224, 224).

        Args:
            indices: places of the pictures.
            numbers: (len(indices), `RANDOM_CROP_NUMBERS`) for random crops; None: centre crops.
        """
        return decode_pictures([self.root / self.names[index] for index in indices], numbers)

    def update_digest(self, digest: Any) -> None:
        """Add to a hash the crop rule, every file's name and size, and the bytes of up to 1,000 files.

        The files read whole are spread evenly over the list; all of them where there are no more than 1,000. So
        another file, a lost file and nearly every edit are seen, but an edit that keeps the size of a file
        outside the thousand is not: reading all of ImageNet would take longer than certifying on it.

        Args:
            digest: a `hashlib` object.
        """
        digest.update(json.dumps(["pictures", RESIZE, CROP, len(self.names)]).encode() + b"\n")
        whole = set(
            np.linspace(0, len(self.names) - 1, min(len(self.names), _READ_WHOLE)).astype(int).tolist()
        )
        for place, name in enumerate(self.names):
            path = self.root / name
            try:
                raw = read_bytes(path, DataError, most=MOST_PICTURE_BYTES) if place in whole else None
                content = None if raw is None else hashlib.sha256(raw).hexdigest()
                digest.update(json.dumps([name, path.stat().st_size, content]).encode() + b"\n")
            except (OSError, DataError) as error:
                raise DataError(f"cannot read the picture {path}: {error}; restore the file") from error
