"""Data sets by name or by path: the registry of sources, and the one function that reads from it."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

from smoothcert.arguments import check_kind, check_path, check_whole
from smoothcert.data.dataset import Dataset
from smoothcert.data.source import DataSource, Request
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.reading import kind_of
from smoothcert.registry import Registry
from smoothcert.visible import brief

DATASETS: Registry[DataSource] = Registry("dataset", "smoothcert.data.sets", DataSource)


def load_dataset(
    name: str | Path, split: str = "test", data_dir: str | Path | None = None, *, holdout: int | None = None
) -> Dataset:
    """Read one split of a registered data set, or of a user's own file or folder.

    Args:
        name: a name in `DATASETS`, e.g. "digits"; or the path of an .npz file or of a folder of class folders.
        split: one of the source's splits.
        data_dir: folder that holds the data set's files; embedded data sets do not look at it.
        holdout: training images in the split "holdout", which are not in "train"; 0 for none, None for the usual number
            (5,000, or a tenth of fewer than 50,000).
    """
    name, folder = find_source(name, data_dir)
    source = DATASETS[name]
    if split not in source.splits:
        known = ", ".join(source.splits)
        raise InvalidArgumentError(f"dataset {name!r} has no split {split!r}; known: {known}")
    if holdout is not None:
        check_whole("holdout", holdout, 0, what="a number of images from 0 on, or None")
    if split == "holdout" and holdout == 0:
        raise InvalidArgumentError(
            "there is no hold-out to read: all training images are trained on (holdout=0)"
        )
    found = source.read(Request(name, split, folder, holdout))
    return replace(found, data_dir=folder, holdout=None if split == "test" else holdout)


def find_source(name: str | Path, data_dir: str | Path | None = None) -> tuple[str, Path | None]:
    """Return the registered name and the place of a data set that is named, or given by its path.

    Not a look at the data: what is at the place is read by `load_dataset`.

    Args:
        name: a name in `DATASETS`, which counts first, or a path.
        data_dir: folder that the path is seen from, or the file itself; None for the path as it is.
    """
    place = None if data_dir is None else check_path("data_dir", data_dir)
    if isinstance(name, str) and name in DATASETS:
        return name, place
    check_kind("dataset", name, (str, PathLike), "the name of a data set, or a path")
    path = check_path("dataset", name)
    if place is None:
        place = path
    elif kind_of(place) == "folder" and place.name != path.name:
        place = place / path
    elif place.name != path.name:
        raise InvalidArgumentError(
            f"dataset {str(path)!r} and data_dir {str(place)!r} are two files; give one"
        )
    for known in DATASETS:
        if DATASETS[known].reads(place):
            return known, place
    raise UnknownNameError(
        f"unknown dataset {brief(str(name))}; known: {', '.join(DATASETS)}, or the path of an .npz file (arrays images "
        "and labels) or of a folder of class folders"
    )
