"""The embedded default data set: scikit-learn's 1,797 real 8x8 images of handwritten digits.

Grey levels k = 0..16 are kept as uint8 round(255 k / 16). The split into 1,097 train, 200 holdout and 500
test images never changes: within each class, images are ranked by words of the keyed stream of that class
(seed 0, phase "digits-split"); the first ones go to test, the next to holdout, the rest to train, each split
in the original order. Classes share a split in proportion to their size, by largest remainder.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS, holdout_size
from smoothcert.seeding import state_words, stream_key

_TEST, _HOLDOUT = 500, 200
_CLASSES = tuple("0123456789")


@cache
def _arrays() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Read all images, (1797, 1, 8, 8), and labels, once per process."""
    from sklearn.datasets import load_digits  # here, because it is slow to import

    raw = load_digits()
    images = np.rint(raw.data.reshape(-1, 1, 8, 8) * (255 / 16)).astype(np.uint8)
    return images, raw.target.astype(np.int64)


def _shares(sizes: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Divide `total` among classes in proportion to `sizes`; largest remainders get what is left over."""
    whole, remainder = np.divmod(sizes * total, sizes.sum())
    order = np.argsort(-remainder, kind="stable")
    whole[order[: total - whole.sum()]] += 1
    return whole


def _split_of_each(labels: NDArray[np.int64], holdout: int) -> NDArray[np.str_]:
    """Name the split of every image; a function of the labels, the size of the hold-out and a fixed key alone."""
    splits = np.full(len(labels), "train", dtype="<U8")
    sizes = np.bincount(labels)
    tests, holdouts = _shares(sizes, _TEST), _shares(sizes, holdout)
    for label, (test, held_out) in enumerate(zip(tests, holdouts, strict=True)):
        members = np.flatnonzero(labels == label)
        # Raw words of the stream, not torch's shuffle, whose algorithm another release may change.
        words = state_words(stream_key(0, label, "digits-split", 0))[: len(members)]
        ranked = members[np.argsort(words, kind="stable")]
        splits[ranked[:test]] = "test"
        splits[ranked[test : test + held_out]] = "holdout"
    return splits


def _read(request: Request) -> Dataset:
    """Return one split; the data come with scikit-learn, so no folder is looked at."""
    images, labels = _arrays()
    size = _HOLDOUT if request.holdout is None else holdout_size(len(labels) - _TEST, request.holdout)
    chosen = _split_of_each(labels, size) == request.split
    return request.of_arrays(images[chosen], labels[chosen], _CLASSES)


DIGITS = DataSource(
    summary="1,797 real 8x8 handwritten digits in 10 classes, embedded (scikit-learn); 1,097 train, 200 holdout, "
    "500 test",
    splits=SPLITS,
    read=_read,
    input_shape=(1, 8, 8),
    num_classes=10,
    train_size=1_097,
    class_names=_CLASSES,
)
