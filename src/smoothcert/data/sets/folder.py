"""A user's own pictures, in one folder per class.

    ROOT/train/CLASS/picture.jpg    trained on, and held out
    ROOT/test/CLASS/picture.jpg     test; without test/, val/ is the test split

A folder without train/, test/ and val/ is split by a keyed hash of each name: a fifth is the test split, whatever
other files come or go.
"""

from __future__ import annotations

from smoothcert.data.class_folders import (
    class_names,
    is_split,
    list_pictures,
    pictures_in,
    read_split_folders,
)
from smoothcert.data.dataset import Dataset
from smoothcert.data.picture import CROP
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS, keyed_fraction
from smoothcert.errors import DataError
from smoothcert.reading import kind_of

_TEST_SHARE = 0.2  # of a folder that is not split into train/ and test/


def _read(request: Request) -> Dataset:
    """Return one split of the user's own class folders in `data_dir`."""
    root = request.home("your own pictures, one folder per class")
    if any(is_split(root / part) for part in ("train", "test", "val")):
        test = root / ("test" if is_split(root / "test") else "val")
        return read_split_folders(request, root, test)
    classes = class_names(root)
    if not classes:
        raise DataError(
            f"{root} holds no class folders; put the pictures of each class into a folder of its own"
        )
    names = list_pictures(root, classes)
    is_test = [keyed_fraction(name, "test") < _TEST_SHARE for name in names]
    chosen = [name for name, test in zip(names, is_test, strict=True) if test == (request.split == "test")]
    if not chosen:
        raise DataError(
            f"the {len(names)} pictures in {root} are too few to leave any for the {request.split} split; add "
            "pictures or make folders train and test there"
        )
    return pictures_in(request, root, classes, chosen)


FOLDER = DataSource(
    summary=f"your own pictures, one folder per class, as {CROP}x{CROP} pixels; folders train and test, or a keyed "
    "fifth for test; a tenth of train is the holdout (at most 5,000)",
    splits=SPLITS,
    read=_read,
    input_shape=(3, CROP, CROP),
    num_classes=None,
    mean=(0.485, 0.456, 0.406),  # ImageNet's, as the usual place to start from
    std=(0.229, 0.224, 0.225),
    augmentation="resized-crop-flip",
    reads=lambda path: kind_of(path) == "folder",
)
