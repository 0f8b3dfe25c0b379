"""Idx files, plain or gzipped, as those of MNIST and of sets that took over its names of files.

Of the 60,000 training images the last 5,000 are the hold-out (a tenth, where a folder has fewer than 50,000), so
55,000 are trained on; the test split has 10,000.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import struct
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import MOST_DATA_BYTES, checked_labels
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS
from smoothcert.errors import DataError
from smoothcert.reading import read_bytes

_MOST_AXES = 8
# Who published labels with these digests (first 16 hex digits of SHA-256 over the labels alone).
_OWNERS = {
    "1feba77c54802fa5": "mnist",
    "ddeff807876a9661": "mnist",
    "657fbd221bfc9f41": "fashion-mnist",
    "3d0e6c6ea990b53b": "fashion-mnist",
}


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read one idx file of bytes; `DataError` says what is wrong with it.

    Args:
        path: the file, gzipped if its name ends in .gz.
    """
    packed = io.BytesIO(read_bytes(path, DataError, most=MOST_DATA_BYTES))
    try:
        # Unpacked as far as the header says: a few kilobytes may unpack to any number of gigabytes.
        file = gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
        shape = _shape(path, file.read(4), file)
        raw = file.read(math.prod(shape))
        rest = file.read(1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {error}; get the file again") from error
    if len(raw) != math.prod(shape) or rest:
        what = "too long" if rest else f"cut short: {len(raw)} bytes"
        raise DataError(f"{path} is {what} for shape {shape}; get the file again")
    return np.frombuffer(raw, dtype=np.uint8).reshape(shape)


def _shape(path: Path, start: bytes, file: io.BufferedIOBase) -> tuple[int, ...]:
    """Return the shape that the header says, which begins with `start`; refuse more than any such file holds."""
    if len(start) < 4 or start[:3] != b"\0\0\x08" or start[3] > _MOST_AXES:
        raise DataError(f"{path} is no idx file of bytes (it begins with {start.hex()}); get the file again")
    sides = file.read(4 * start[3])
    shape = struct.unpack(f">{start[3]}I", sides) if len(sides) == 4 * start[3] else ()
    if not shape:
        raise DataError(f"{path} is cut short: it has no shape; get the file again")
    if math.prod(shape) > MOST_DATA_BYTES:
        raise DataError(
            f"{path} claims the shape {shape}, over {MOST_DATA_BYTES:,} bytes; get the file again"
        )
    return shape


@dataclass(frozen=True)
class IdxFiles:
    """Images of 28x28 pixels in 10 classes, in the four files of MNIST's names.

    Args:
        class_names: in the order of the labels.
        origin: where the files are published.
    """

    class_names: tuple[str, ...]
    origin: str

    def source(self, what: str) -> DataSource:
        """Return these files as a data set of `what`, in the published number."""
        return DataSource(
            summary=f"70,000 28x28 {what} in 10 classes, from idx files; 55,000 train, 5,000 holdout, 10,000 test",
            splits=SPLITS,
            read=self._read,
            input_shape=(1, 28, 28),
            num_classes=10,
            train_size=55_000,
            class_names=self.class_names,
        )

    def _read(self, request: Request) -> Dataset:
        """Return one split from the files in a folder of the data set's name inside `data_dir`, or in `data_dir`."""
        images_path = self._find(request, [request.name, ""], "images-idx3")
        # From the same folder: the images of one data set must not meet the labels of the other.
        labels_path = self._find(replace(request, data_dir=images_path.parent), [""], "labels-idx1")
        _refuse_other(request.name, labels_path)
        images = read_idx(images_path)
        if images.shape[1:] != (28, 28):
            raise DataError(
                f"{images_path} must hold 28x28 images, got shape {images.shape}; get the file again"
            )
        labels = checked_labels(read_idx(labels_path), labels_path, count=len(images), num_classes=10)
        part = request.part(len(images))
        return request.of_arrays(images[part, None], labels[part], self.class_names)

    def _find(self, request: Request, folders: list[str], kind: str) -> Path:
        stem = f"{'t10k' if request.split == 'test' else 'train'}-{kind}-ubyte"
        return request.files(folders, [[stem], [f"{stem}.gz"]], self.origin)[0]


def _refuse_other(name: str, labels_path: Path) -> None:
    """Refuse the published labels of the other data set, whose files have the same names."""
    owner = _OWNERS.get(hashlib.sha256(read_idx(labels_path).tobytes()).hexdigest()[:16])
    if owner is not None and owner != name:
        raise DataError(
            f"{labels_path} is a file of {owner}, not of {name}; give the folder of {name} with --data-dir"
        )
