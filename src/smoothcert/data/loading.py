"""Data sets by name: the table of sources, and the one function that reads from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from smoothcert.arguments import check_path
from smoothcert.data.dataset import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.registry import Table
from smoothcert.visible import brief


@dataclass(frozen=True)
class DataSource:
    """Where the splits of one data set come from.

    Not the data: nothing is read before `read` is called.

    Args:
        summary: one line for listings.
        splits: names of the splits, e.g. ("train", "holdout", "test").
        read: from a split's name, the folder of files (None: the source's own place) and the size of the hold-out
            (None: the usual one) to the data.
        input_shape: shape of one image.
        num_classes: number of classes; None if the files decide.
        mean: per channel, in pixel units: what a network's first layer subtracts.
        std: per channel, in pixel units: what it then divides by.
        augmentation: name in `AUGMENTATIONS` of the one usually trained with.
        train_size: images in the train split of the published files, hold-out taken off; None if the files decide.
    """

    summary: str
    splits: tuple[str, ...]
    read: Callable[[str, Path | None, int | None], Dataset]
    input_shape: tuple[int, ...]
    num_classes: int | None
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    augmentation: str = "none"
    train_size: int | None = None


DATASETS: Table[DataSource] = Table("dataset")


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
    if holdout is not None and (isinstance(holdout, bool) or not isinstance(holdout, int) or holdout < 0):
        raise InvalidArgumentError(
            f"holdout must be a number of images from 0 on, or None, got {brief(holdout)}"
        )
    if split == "holdout" and holdout == 0:
        raise InvalidArgumentError(
            "there is no hold-out to read: all training images are trained on (holdout=0)"
        )
    folder = None if data_dir is None else check_path("data_dir", data_dir)
    return replace(source.read(split, folder, holdout), data_dir=folder)
