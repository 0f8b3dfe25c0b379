"""A user's own arrays: what can become images and labels, and what to do about what cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import DataError
from smoothcert.on_demand import torch
from smoothcert.visible import brief

MOST_CLASSES = 2**18
"""Classes of a data set or a network: ten times those of the largest public set of photographs."""
_LONGEST_NAME = 1_000  # characters


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Return an array, a tensor or a list of numbers as an array; say what to give instead of anything else.

    Args:
        name: "images" or "labels", for messages.
        values: what a user gave.
    """
    if isinstance(values, np.ndarray):
        return values
    try:
        if isinstance(values, torch.Tensor):
            return values.detach().cpu().numpy()
        if isinstance(values, list | tuple) and not _is_deep(values):
            return np.asarray(values)
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        reason = " ".join(str(error).split())[:160]
        raise DataError(f"{name} must be an array of numbers of one shape: {reason}; convert them") from error
    raise DataError(
        f"{name} must be an array, a tensor or a list of numbers, got {type(values).__name__}; of a torch data set or "
        "a loader give the images and the labels, e.g. from_arrays(torch.stack([x for x, _ in data]), "
        "[int(y) for _, y in data])"
    )


def as_pixels(images: Any) -> NDArray[Any]:
    """Return images as uint8 or float32; `Dataset` refuses other types."""
    pixels = as_array("images", images)
    if np.issubdtype(pixels.dtype, np.floating):
        with np.errstate(over="ignore"):  # becomes infinite, which the certifier refuses
            return pixels.astype(np.float32, copy=False)
    return pixels


def as_labels(labels: Any) -> NDArray[np.int64]:
    """Return labels as int64; refuse what is no whole number, or none that int64 can hold."""
    if labels is None:
        raise DataError(
            "labels are missing; give the images' labels beside them: from_arrays(images, labels)"
        )
    numbers = as_array("labels", labels)
    if not np.issubdtype(numbers.dtype, np.integer):
        raise DataError(f"labels must be integers, got dtype {numbers.dtype}; convert them to int64")
    if numbers.size and int(numbers.max()) >= 2**63:
        raise DataError(
            f"labels must be numbers of classes, got {int(numbers.max())}; number the classes from 0"
        )
    return numbers.astype(np.int64, copy=False)


def numbered_classes(labels: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the names "0", "1", .. up to the largest label; refuse a label that is no number of a class."""
    largest = int(labels.max(initial=0))
    if largest >= MOST_CLASSES:
        raise DataError(
            f"labels must be numbers of classes below {MOST_CLASSES:,}, got {largest}; number the classes from 0"
        )
    return tuple(str(label) for label in range(largest + 1))


def checked_names(class_names: Any) -> tuple[str, ...]:
    """Return names of classes; refuse what are no texts that can be written to a file."""
    if isinstance(class_names, str | bytes) or not isinstance(class_names, Sequence):
        raise DataError(f"class_names must be a list of names, got {brief(class_names)}; give one per class")
    if len(class_names) > MOST_CLASSES:
        raise DataError(f"there may be {MOST_CLASSES:,} classes, got {len(class_names):,} class_names")
    for name in class_names:
        if not isinstance(name, str) or len(name) > _LONGEST_NAME or "\0" in name or not _is_unicode(name):
            raise DataError(
                f"class_names must be texts of at most {_LONGEST_NAME} characters, got {brief(name)}; rename the class"
            )
    return tuple(class_names)


def _is_unicode(name: str) -> bool:
    try:
        return bool(name.encode("utf-8")) or not name
    except UnicodeEncodeError:  # from a folder's name in another encoding
        return False


def _is_deep(values: Sequence[Any]) -> bool:
    """Say whether lists lie in lists five deep, as no images do: few of them could name more numbers than fit."""
    for _ in range(5):
        inner = next((one for one in values if isinstance(one, list | tuple)), None)
        if inner is None:
            return False
        values = inner
    return True
