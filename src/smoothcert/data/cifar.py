"""The files of CIFAR-10 and CIFAR-100: python batches (pickles), or the binary version.

Of the 50,000 training images the last 5,000 are the hold-out (a tenth, where a folder has fewer), so 45,000 are
trained on; the test split has 10,000. CIFAR-100 is labelled by its 100 fine classes. Mean and standard deviation
are the field's values for CIFAR-10; CIFAR-100 uses the same ones, since none are established for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import MOST_DATA_BYTES, checked_labels
from smoothcert.data.safe_pickle import read_pickle
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS
from smoothcert.errors import DataError
from smoothcert.reading import read_bytes

_ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar.html"
_PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class CifarBatches:
    """Files of 32x32 colour pictures, as one of the two published sets has them.

    Args:
        folders: names of the folders that the published archives unpack to.
        train: names of the training files, without the ending of the binary version.
        test: name of the test file, likewise.
        labels: key of the labels in the pickles.
        label_bytes: bytes before the pixels of a binary row; the last of them is the label.
        class_names: in the order of the labels.
    """

    folders: tuple[str, str]
    train: tuple[str, ...]
    test: str
    labels: str
    label_bytes: int
    class_names: tuple[str, ...]

    def source(self) -> DataSource:
        """Return these files as a data set, in the published number."""
        return DataSource(
            summary=f"60,000 32x32 colour pictures in {len(self.class_names)} classes, from python or binary batches; "
            "45,000 train, 5,000 holdout, 10,000 test",
            splits=SPLITS,
            read=self._read,
            input_shape=(3, 32, 32),
            num_classes=len(self.class_names),
            mean=(0.4914, 0.4822, 0.4465),
            std=(0.2023, 0.1994, 0.2010),
            augmentation="crop-flip",
            train_size=45_000,
            class_names=self.class_names,
        )

    def _read(self, request: Request) -> Dataset:
        """Return one split from the first of the known places that has its files."""
        names = (self.test,) if request.split == "test" else self.train
        inner = ("", *self.folders)
        paths = request.files(
            [*inner, *(f"{request.name}/{folder}".rstrip("/") for folder in inner)],
            [names, [f"{name}.bin" for name in names]],
            _ORIGIN,
        )
        parts = [
            self._binary(path) if path.suffix == ".bin" else self._pickled(path, request.name)
            for path in paths
        ]
        images = np.concatenate([pixels for pixels, _ in parts]).reshape(-1, 3, 32, 32)
        labels = np.concatenate([targets for _, targets in parts])
        part = request.part(len(images))
        return request.of_arrays(images[part], labels[part], self.class_names)

    def _pickled(self, path: Path, name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Read one python batch: pixels, (N, 3072), and labels."""
        batch = read_pickle(path)
        for key in ("data", self.labels):
            if key not in batch:
                raise DataError(f"{path} has no {key!r}, so it is no batch of {name}; get the file again")
        pixels = batch["data"]
        if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.shape[1:] != (_PIXELS,):
            got = (
                f"{pixels.dtype} {pixels.shape}" if isinstance(pixels, np.ndarray) else type(pixels).__name__
            )
            raise DataError(
                f"the images of {path} must be uint8 (N, {_PIXELS}), got {got}; get the file again"
            )
        labels = checked_labels(
            batch[self.labels], path, count=len(pixels), num_classes=len(self.class_names)
        )
        return pixels, labels

    def _binary(self, path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Read one binary file: rows of label bytes and 3072 pixels."""
        content, row = read_bytes(path, DataError, most=MOST_DATA_BYTES), self.label_bytes + _PIXELS
        raw = np.frombuffer(content, dtype=np.uint8)
        if raw.size == 0 or raw.size % row:
            raise DataError(
                f"{path} is cut short: {raw.size} bytes are no whole number of {row}-byte rows; get the file again"
            )
        rows = raw.reshape(-1, row)
        labels = checked_labels(
            rows[:, self.label_bytes - 1], path, count=len(rows), num_classes=len(self.class_names)
        )
        return rows[:, self.label_bytes :], labels
