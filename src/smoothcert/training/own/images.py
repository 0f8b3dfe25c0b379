"""The user's own images to train on, and those that are held out of them."""

from __future__ import annotations

from dataclasses import replace
from types import NoneType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.arguments import check_kind, check_whole
from smoothcert.data import Dataset, checked_names, holdout_size
from smoothcert.errors import DataError, InvalidArgumentError, InvalidImageError
from smoothcert.seeding import generator_for

_ROWS = 1_000  # images looked at together
_MAKE = 'Dataset.from_arrays(images, labels, split="train")'

Holdout = int | Dataset | None
"""What is measured on after every epoch: so many images of the data set, other images, or nothing."""


def training_and_holdout(dataset: Any, holdout: Any, class_names: Any) -> tuple[Dataset, Dataset | None]:
    """Return the images to train on and those to measure on; refuse test images, and values outside [0, 1].

    Args:
        dataset: a `Dataset` of any split but "test".
        holdout: so many of its images, the same ones whatever the seed, which are not trained on; or another
            `Dataset`; None for none.
        class_names: one name per class instead of the data set's own; None for those.
    """
    dataset = _checked("dataset", dataset, class_names)
    if dataset.split == "test":
        raise InvalidArgumentError(
            f"dataset is the test split of {dataset.name}, which is for certifying; give other images, and say so: "
            f"{_MAKE}"
        )
    check_kind(
        "holdout",
        holdout,
        (int, Dataset, NoneType),
        f"a number of images, a Dataset such as {_MAKE}, or None",
    )
    if holdout is None:
        return dataset, None
    if not isinstance(holdout, Dataset):
        return _split(
            dataset, check_whole("holdout", holdout, 1, what="a number of images from 1 on, or None")
        )
    holdout = _checked("holdout", holdout, class_names)
    for name in ("input_shape", "class_names"):
        if getattr(holdout, name) != getattr(dataset, name):
            raise InvalidArgumentError(
                f"holdout has {name} {getattr(holdout, name)}, but dataset has {getattr(dataset, name)}; give images "
                "of the same shape and classes (class_names names them for both)"
            )
    return dataset, holdout


def _checked(name: str, given: Any, class_names: Any) -> Dataset:
    check_kind(name, given, Dataset, f"a smoothcert Dataset: {_MAKE}")
    dataset: Dataset = (
        given if class_names is None else replace(given, class_names=checked_names(class_names))
    )
    if dataset.num_classes < 2:
        raise DataError(
            f"{name} has {dataset.num_classes} class, and a classifier tells at least 2 apart; give images of more "
            "classes, or name them all by class_names"
        )
    if isinstance(dataset.images, np.ndarray) and dataset.images.dtype != np.uint8:
        _refuse_values(name, dataset.images)
    return dataset


def _refuse_values(name: str, images: NDArray[Any]) -> None:
    """Refuse pixels that no certificate would be about: the same that certifying refuses, but before the training."""
    for start in range(0, len(images), _ROWS):
        flat = images[start : start + _ROWS].reshape(len(images[start : start + _ROWS]), -1)
        wrong = ~((flat >= 0) & (flat <= 1)).all(axis=1)
        if wrong.any():
            first = int(wrong.argmax())
            values = flat[first][~((flat[first] >= 0) & (flat[first] <= 1))]
            raise InvalidImageError(
                f"image {start + first} of {name} has the value {values[0]:g}; pixels must lie in [0, 1], so give them "
                "as they are (mean and std normalise inside the model) or scaled there"
            )


def _split(dataset: Dataset, size: int) -> tuple[Dataset, Dataset]:
    """Hold images out by a fixed key, because arrays are often sorted by class."""
    if not isinstance(dataset.images, np.ndarray):
        raise InvalidArgumentError(
            f"holdout={size} cannot be chosen among picture files; give the hold-out as a Dataset, such as "
            'load_dataset(name, "holdout", data_dir)'
        )
    held = holdout_size(len(dataset), size)
    order = torch.randperm(len(dataset), generator=generator_for(0, 0, "fit-holdout")).numpy()
    parts = {"holdout": np.sort(order[:held]), dataset.split: np.sort(order[held:])}
    holdout, train = (
        replace(dataset, split=split, images=dataset.images[rows], labels=dataset.labels[rows])
        for split, rows in parts.items()
    )
    return train, holdout
