"""Finding a data set's files and checking what several formats share, with errors that name the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import DataError
from smoothcert.reading import kind_of
from smoothcert.visible import brief

MOST_DATA_BYTES = 2**28
"""Of a data set's file, unpacked: a third more than the largest published one that is read whole (but SVHN's extra)."""


def require_data_dir(data_dir: Path | None, name: str, origin: str) -> Path:
    """Return the folder given, or say that this data set needs one.

    Args:
        data_dir: the folder, if any.
        name: the data set's name.
        origin: where its files are published.
    """
    if data_dir is None:
        raise DataError(
            f"{name} is not embedded: say where its files are with data_dir (--data-dir); get them from {origin}"
        )
    if kind_of(data_dir) != "folder":
        raise DataError(
            f"data_dir {data_dir} is no folder; give the folder of {name}'s files (from {origin})"
        )
    return data_dir


def find_files(
    data_dir: Path | None, folders: Sequence[str], choices: Sequence[Sequence[str]], *, name: str, origin: str
) -> list[Path]:
    """Return the files of the first choice that is there; name the paths looked at if there is none.

    A choice counts as there once one of its files is: then each of the others is required.

    Args:
        data_dir: the folder the user gave.
        folders: folders below it to look in, in this order; "" is the folder itself.
        choices: groups of file names that hold the same images, e.g. plain and gzipped.
        name: the data set's name.
        origin: where its files are published.
    """
    home = require_data_dir(data_dir, name, origin)
    for folder in folders:
        for choice in choices:
            paths = [home / folder / file for file in choice]
            missing = [path for path in paths if kind_of(path) != "file"]
            if len(missing) < len(paths):
                if missing:
                    raise DataError(f"{name} is incomplete: there is no {missing[0]}; get it from {origin}")
                return paths
    files = " nor ".join(choice[0] for choice in choices)
    places = ", ".join(str(home / folder) for folder in folders)
    raise DataError(f"there is no {files} of {name} in any of {places}; get the files from {origin}")


def checked_labels(labels: Any, path: Path, *, count: int, num_classes: int) -> NDArray[np.int64]:
    """Return labels as int64 if there is one in 0..num_classes-1 per image; name the file if not.

    Args:
        labels: a list of integers or an array.
        path: the file they come from.
        count: number of images they belong to.
        num_classes: number of classes.
    """
    # Each one looked at before they become an array: lists in lists, from a few bytes, can be too many for any memory.
    plain = isinstance(labels, list) and all(type(label) is int and abs(label) < 2**63 for label in labels)
    if not plain and not isinstance(labels, np.ndarray):
        raise DataError(
            f"the labels of {path} are no list of integers: {brief(type(labels))}; get the file again"
        )
    numbers = np.asarray(labels)
    if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise DataError(
            f"the labels of {path} must be a list of integers, got {numbers.dtype} of shape {numbers.shape}; "
            "get the file again"
        )
    if len(numbers) != count:
        raise DataError(f"{path} has {len(numbers)} labels for {count} images; get the file again")
    wrong = numbers[(numbers < 0) | (numbers >= num_classes)]
    if len(wrong):
        raise DataError(
            f"{path} has the label {int(wrong[0])}, but labels lie in 0..{num_classes - 1}; get the file again"
        )
    return numbers.astype(np.int64)
