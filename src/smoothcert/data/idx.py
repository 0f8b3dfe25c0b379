"""MNIST and Fashion-MNIST from their idx files, plain or gzipped.

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
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import MOST_DATA_BYTES, checked_labels, find_files
from smoothcert.data.loading import DATASETS, DataSource
from smoothcert.data.splits import SPLITS, training_part
from smoothcert.errors import DataError
from smoothcert.reading import read_bytes

_MOST_AXES = 8
_STEMS = {"train": "train", "holdout": "train", "test": "t10k"}
# Who published labels with these digests (first 16 hex digits of SHA-256 over the labels alone).
_OWNERS = {
    "1feba77c54802fa5": "mnist",
    "ddeff807876a9661": "mnist",
    "657fbd221bfc9f41": "fashion-mnist",
    "3d0e6c6ea990b53b": "fashion-mnist",
}
_FASHION = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


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


def _read(
    name: str,
    class_names: tuple[str, ...],
    origin: str,
    split: str,
    data_dir: Path | None,
    holdout: int | None,
) -> Dataset:
    """Return one split from the files in a folder of the data set's name inside `data_dir`, or in `data_dir`."""

    def find(home: Path | None, folders: list[str], kind: str) -> Path:
        stem = f"{_STEMS[split]}-{kind}-ubyte"
        return find_files(home, folders, [[stem], [f"{stem}.gz"]], name=name, origin=origin)[0]

    images_path = find(data_dir, [name, ""], "images-idx3")
    # From the same folder: the images of one data set must not meet the labels of the other.
    labels_path = find(images_path.parent, [""], "labels-idx1")
    _refuse_other(name, labels_path)
    images = read_idx(images_path)
    if images.shape[1:] != (28, 28):
        raise DataError(f"{images_path} must hold 28x28 images, got shape {images.shape}; get the file again")
    labels = checked_labels(read_idx(labels_path), labels_path, count=len(images), num_classes=10)
    part = slice(None) if split == "test" else training_part(split, len(images), holdout)
    return Dataset.from_arrays(
        images[part, None], labels[part], name=name, split=split, class_names=class_names
    )


def _refuse_other(name: str, labels_path: Path) -> None:
    """Refuse the published labels of the other data set, whose files have the same names."""
    owner = _OWNERS.get(hashlib.sha256(read_idx(labels_path).tobytes()).hexdigest()[:16])
    if owner is not None and owner != name:
        raise DataError(
            f"{labels_path} is a file of {owner}, not of {name}; give the folder of {name} with --data-dir"
        )


def _source(name: str, class_names: tuple[str, ...], what: str, origin: str) -> DataSource:
    """Enter one of the two data sets into the table."""
    return DATASETS.register(name)(
        DataSource(
            summary=f"70,000 28x28 {what} in 10 classes, from idx files; 55,000 train, 5,000 holdout, 10,000 test",
            splits=SPLITS,
            read=partial(_read, name, class_names, origin),
            input_shape=(1, 28, 28),
            num_classes=10,
            train_size=55_000,
        )
    )


MNIST = _source(
    "mnist", tuple("0123456789"), "handwritten digits", "https://ossci-datasets.s3.amazonaws.com/mnist/"
)
FASHION_MNIST = _source(
    "fashion-mnist", _FASHION, "pictures of clothes", "https://github.com/zalandoresearch/fashion-mnist"
)
