"""MNIST and Fashion-MNIST from their idx files, plain or gzipped.

Of the 60,000 training images the last 5,000 are the hold-out (a tenth, where a folder has fewer than 50,000), so
55,000 are trained on; the test split has 10,000.
"""

from __future__ import annotations

import gzip
import hashlib
import struct
import zlib
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import checked_labels, find_files
from smoothcert.data.loading import DATASETS, DataSource
from smoothcert.data.splits import SPLITS, training_part
from smoothcert.errors import DataError

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
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {error}; get the file again") from error
    if len(raw) < 4 or raw[:3] != b"\0\0\x08":
        raise DataError(
            f"{path} is no idx file of bytes (it begins with {raw[:4].hex()}); get the file again"
        )
    dimensions = raw[3]
    shape = struct.unpack_from(f">{dimensions}I", raw, 4) if len(raw) >= 4 + 4 * dimensions else ()
    expected = 4 + 4 * dimensions + int(np.prod(shape))
    if not shape or len(raw) != expected:
        what = "cut short" if not shape or len(raw) < expected else "too long"
        raise DataError(f"{path} is {what}: {len(raw)} bytes for shape {shape}; get the file again")
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def _read(name: str, class_names: tuple[str, ...], origin: str, split: str, data_dir: Path | None) -> Dataset:
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
    part = slice(None) if split == "test" else training_part(split, len(images))
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
