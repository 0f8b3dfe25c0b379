"""MNIST and Fashion-MNIST from their idx files, plain or gzipped."""

from __future__ import annotations

import gzip
import struct
import zlib
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.loading import DATASETS, DataSource
from smoothcert.errors import DataError

HOLDOUT = 5_000  # the last training images; never test images
_STEMS = {"train": "train", "holdout": "train", "test": "t10k"}
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
    if not shape or len(raw) != 4 + 4 * dimensions + int(np.prod(shape)):
        raise DataError(f"{path} is cut short: {len(raw)} bytes for shape {shape}; get the file again")
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def _find(folder: Path, stem: str) -> Path:
    """Return the file, plain or gzipped; name both places if there is neither."""
    for path in (folder / stem, folder / f"{stem}.gz"):
        if path.exists():
            return path
    raise DataError(
        f"there is no {folder / stem} nor {stem}.gz; give the folder of the four idx files with --data-dir "
        "(they are published as train-images-idx3-ubyte.gz and so on)"
    )


def _read(name: str, class_names: tuple[str, ...], split: str, data_dir: Path | None) -> Dataset:
    """Return one split from the files in `data_dir`, or in a folder of the data set's name inside it."""
    if data_dir is None:
        raise DataError(f"{name} is not embedded: say where its idx files are with data_dir (--data-dir)")
    folder = data_dir / name if (data_dir / name).is_dir() else data_dir
    images = read_idx(_find(folder, f"{_STEMS[split]}-images-idx3-ubyte"))[:, None]
    labels = read_idx(_find(folder, f"{_STEMS[split]}-labels-idx1-ubyte")).astype(np.int64)
    part = {"train": slice(0, -HOLDOUT), "holdout": slice(-HOLDOUT, None), "test": slice(None)}[split]
    return Dataset.from_arrays(images[part], labels[part], name=name, split=split, class_names=class_names)


for _name, _classes, _what in (
    ("mnist", tuple("0123456789"), "handwritten digits"),
    ("fashion-mnist", _FASHION, "pictures of clothes"),
):
    DATASETS.register(_name)(
        DataSource(
            summary=f"70,000 28x28 {_what} in 10 classes, from idx files",
            splits=("train", "holdout", "test"),
            read=partial(_read, _name, _classes),
        )
    )
