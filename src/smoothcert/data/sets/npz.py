"""A user's own arrays in one .npz file.

    images, labels                  the test split, and no other
    test_images, test_labels        likewise, beside training images
    train_images, train_labels      trained on, and held out (the last tenth, at most 5,000)
    class_names, layout             optional: one text per class; how the axes lie, such as "NHWC"

A file of plain `images` is never trained on: its test split would hold the images that were learnt.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.arrays import as_labels, numbered_classes
from smoothcert.data.dataset import Dataset
from smoothcert.data.npz import ENDING, array_names, read_arrays
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS
from smoothcert.errors import DataError
from smoothcert.reading import kind_of
from smoothcert.visible import visible

_PREFIXES = {"train": ("train_",), "holdout": ("train_",), "test": ("test_", "")}
_LABELS = ("labels", "train_labels", "test_labels")


def _read(request: Request) -> Dataset:
    """Return one split of the arrays in the file `data_dir`."""
    path = _file_of(request)
    held = array_names(path)
    prefix = next((one for one in _PREFIXES[request.split] if f"{one}images" in held), None)
    if prefix is None or f"{prefix}labels" not in held:
        raise DataError(_missing(path, request.split, prefix, held))
    found = read_arrays(path, [f"{prefix}images", *_LABELS, "class_names", "layout"])
    try:
        labels = {name: as_labels(found[name]) for name in _LABELS if name in found}
        whole = Dataset.from_arrays(
            found[f"{prefix}images"],
            labels[f"{prefix}labels"],
            name=visible(path.name),
            split=request.split,
            # By all labels of the file, so that its splits have the same classes.
            class_names=_names(found) or numbered_classes(np.concatenate(list(labels.values()))),
            layout=_layout(found),
        )
    except (DataError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error
    if request.split == "test":
        return whole
    part = request.part(len(whole))
    return Dataset(whole.name, whole.split, _part(whole.images, part), whole.labels[part], whole.class_names)


def _file_of(request: Request) -> Path:
    """Return the file: what was given, or the only one in the folder given."""
    place = request.data_dir
    if place is None:
        raise DataError(
            f"{request.name} is a file of your own: give its path as the dataset, or as data_dir (--data-dir)"
        )
    if kind_of(place) != "folder":
        if kind_of(place) is None:
            raise DataError(
                f"{place} is no folder and no {ENDING} file; give the file that holds {request.name} arrays"
            )
        return place
    files = sorted(place.glob(f"*{ENDING}"))
    if len(files) != 1:
        raise DataError(
            f"there are {len(files)} {ENDING} files in {place}; give the path of the one that is meant"
        )
    return files[0]


def _missing(path: Path, split: str, prefix: str | None, held: tuple[str, ...]) -> str:
    """Say which arrays a split needs, and which there are."""
    *_, plainest = _PREFIXES[split]
    wanted = plainest if prefix is None else prefix
    names = f"{wanted}images and {wanted}labels"
    why = f", so it has no {split} split" if split != "test" else ""
    return (
        f"{path} has no arrays {names}{why}; it holds {', '.join(map(visible, held)) or 'nothing'}: write it with "
        f"numpy.savez({path.name!r}, {wanted}images=.., {wanted}labels=..)"
    )


def _names(found: Mapping[str, NDArray[Any]]) -> list[str] | None:
    names = found.get("class_names")
    if names is None:
        return None
    if names.dtype.kind != "U" or names.ndim != 1 or not len(names):
        raise DataError(f"class_names must be a list of texts, got {names.dtype} of shape {names.shape}")
    return [str(name) for name in names]


def _layout(found: Mapping[str, NDArray[Any]]) -> str | None:
    layout = found.get("layout")
    return None if layout is None else str(layout)


def _part(images: Any, part: slice) -> NDArray[Any]:
    chosen: NDArray[Any] = images[part]
    return chosen


NPZ = DataSource(
    summary="your own arrays in one .npz file, given by its path: images and labels, or train_images, train_labels, "
    "test_images and test_labels; a tenth of train is the holdout (at most 5,000)",
    splits=SPLITS,
    read=_read,
    input_shape=None,
    num_classes=None,
    reads=lambda path: path.suffix.lower() == ENDING,
)
