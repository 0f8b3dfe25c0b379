"""SVHN's cropped digits, from the .mat files train_32x32.mat, test_32x32.mat and extra_32x32.mat.

Of the 73,257 training images the last 5,000 are the hold-out (a tenth, where a file has fewer than 50,000), so
68,257 are trained on; the test split has 26,032 and the optional split "extra" 531,131. The files write the digit 0
as label 10; here it is 0.
"""

from __future__ import annotations

import numpy as np

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import MOST_DATA_BYTES, checked_labels
from smoothcert.data.mat import read_mat
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS
from smoothcert.errors import DataError

_CLASSES = tuple("0123456789")
_ORIGIN = "http://ufldl.stanford.edu/housenumbers/"
_MOST_BYTES = {"extra": 2 * 2**30}  # its published images take 1.6 gigabytes


def _read(request: Request) -> Dataset:
    """Return one split from its .mat file in `data_dir` or in the folder "svhn" inside it."""
    file = f"{'train' if request.split == 'holdout' else request.split}_32x32.mat"
    (path,) = request.files(["", request.name], [[file]], _ORIGIN)
    try:
        variables = read_mat(path, most=_MOST_BYTES.get(request.split, MOST_DATA_BYTES))
    except DataError as error:
        raise DataError(
            f"cannot read {path} as a version 5 .mat file: {error}; get it again from {_ORIGIN}"
        ) from error
    if "X" not in variables or "y" not in variables:
        raise DataError(f"{path} lacks X or y, so it is no file of cropped digits; get it from {_ORIGIN}")
    pixels, labels = variables["X"], variables["y"]
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[:3] != (32, 32, 3):
        raise DataError(
            f"X of {path} must be uint8 (32, 32, 3, N), got {pixels.dtype} {pixels.shape}; get it from {_ORIGIN}"
        )
    if labels.dtype.kind not in "iuf" or not np.isin(labels, np.arange(1, 11)).all():
        raise DataError(f"the labels y of {path} must be whole numbers in 1..10; get it again from {_ORIGIN}")
    targets = checked_labels(
        labels.reshape(-1).astype(np.int64) % 10, path, count=pixels.shape[3], num_classes=10
    )
    part = request.part(len(targets))
    images = np.ascontiguousarray(pixels[..., part].transpose(3, 2, 0, 1))
    return request.of_arrays(images, targets[part], _CLASSES)


SVHN = DataSource(
    summary="99,289 32x32 colour pictures of house numbers in 10 classes, from .mat files; 68,257 train, 5,000 "
    "holdout, 26,032 test (and 531,131 extra, if its file is there)",
    splits=(*SPLITS, "extra"),
    read=_read,
    input_shape=(3, 32, 32),
    num_classes=10,
    mean=(0.4377, 0.4438, 0.4728),
    std=(0.1980, 0.2010, 0.1970),
    augmentation="crop-flip",
    train_size=68_257,
    class_names=_CLASSES,
)
