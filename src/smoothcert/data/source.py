"""What a data set says of itself, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import find_files, require_data_dir
from smoothcert.data.splits import training_part


@dataclass(frozen=True)
class Request:
    """One split of a data set, asked for by its name.

    Not checked against what there is: `load_dataset` has done that.

    Args:
        name: under which the data set is registered; messages and the data carry it.
        split: one of the source's splits.
        data_dir: folder of files, or a file; None: the source's own place.
        holdout: training images to hold out; None: the usual number.
    """

    name: str
    split: str
    data_dir: Path | None
    holdout: int | None

    def home(self, origin: str) -> Path:
        """Return the folder given; say where to get the files, `origin`, if there is none."""
        return require_data_dir(self.data_dir, self.name, origin)

    def files(self, folders: Sequence[str], choices: Sequence[Sequence[str]], origin: str) -> list[Path]:
        """Return the first choice of files that is there, as `find_files` does."""
        return find_files(self.data_dir, folders, choices, name=self.name, origin=origin)

    def part(self, count: int) -> slice:
        """Return which of the `count` images of this split's files belong to it, in the order of the files."""
        if self.split not in ("train", "holdout"):
            return slice(None)
        return training_part(self.split, count, self.holdout)

    def of_arrays(self, images: ArrayLike, labels: NDArray[Any], class_names: Sequence[str]) -> Dataset:
        """Return the split's images and labels as a data set of this name."""
        return Dataset.from_arrays(images, labels, name=self.name, split=self.split, class_names=class_names)


@dataclass(frozen=True)
class DataSource:
    """Where the splits of one data set come from.

    Not the data: nothing is read before `read` is called.

    Args:
        summary: one line for listings.
        splits: names of the splits, e.g. ("train", "holdout", "test").
        read: from what is asked for to the data.
        input_shape: shape of one image; None if the files decide.
        num_classes: number of classes; None if the files decide.
        mean: per channel, in pixel units: what a network's first layer subtracts.
        std: per channel, in pixel units: what it then divides by.
        augmentation: name in `AUGMENTATIONS` of the one usually trained with.
        train_size: images in the train split of the published files, hold-out taken off; None if the files decide.
        reads: whether a path that a user gives in place of a name is this source's to read, as its `data_dir`.
        class_names: in the order of the labels; None if the files decide.
    """

    summary: str
    splits: tuple[str, ...]
    read: Callable[[Request], Dataset]
    input_shape: tuple[int, ...] | None
    num_classes: int | None
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    augmentation: str = "none"
    train_size: int | None = None
    reads: Callable[[Path], bool] = lambda path: False
    class_names: tuple[str, ...] | None = None
