"""Data sets by name: the registry of sources, and the one function that reads from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from smoothcert.arguments import check_path, check_whole
from smoothcert.data.dataset import Dataset
from smoothcert.data.source import DataSource, Request
from smoothcert.errors import InvalidArgumentError
from smoothcert.registry import Registry

DATASETS: Registry[DataSource] = Registry("dataset", "smoothcert.data.sets", DataSource)


def load_dataset(
    name: str, split: str = "test", data_dir: str | Path | None = None, *, holdout: int | None = None
) -> Dataset:
    """Read one split of a registered data set.

    Args:
        name: a name in `DATASETS`, e.g. "digits".
        split: one of the source's splits.
        data_dir: folder that holds the data set's files; embedded data sets do not look at it.
        holdout: training images in the split "holdout", which are not in "train"; 0 for none, None for the usual number
            (5,000, or a tenth of fewer than 50,000).
    """
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
    folder = None if data_dir is None else check_path("data_dir", data_dir)
    return replace(source.read(Request(name, split, folder, holdout)), data_dir=folder)
