"""ImageNet, and any folder of class folders of pictures.

    ROOT/train/CLASS/picture.jpg    trained on, and held out
    ROOT/test/CLASS/picture.jpg     test; without test/, val/ is the test split (ImageNet: always val/)

Classes are numbered in the order of their folders' names. The hold-out are 5,000 training pictures (a tenth, where
there are fewer than 50,000): those whose names have the smallest keyed hash. A folder without train/, test/ and val/
is split by a keyed hash of each name: a fifth is the test split, whatever other files come or go. Pictures are
decoded when they are asked for: shorter side to 256 pixels, central 224x224.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from smoothcert.data.dataset import Dataset
from smoothcert.data.files import require_data_dir
from smoothcert.data.loading import DATASETS, DataSource
from smoothcert.data.picture import CROP
from smoothcert.data.pictures import PictureFiles
from smoothcert.data.splits import SPLITS, holdout_size, keyed_fraction
from smoothcert.errors import DataError
from smoothcert.reading import kind_of

_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
_TEST_SHARE = 0.2  # of a folder that is not split into train/ and test/
_IMAGENET_CLASSES = 1_000
_IMAGENET_ORIGIN = "https://image-net.org/download.php"


def class_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the class folders in `folder`, sorted; hidden ones are left out."""
    return tuple(
        sorted(
            e.name for e in _entries(folder) if kind_of(Path(e)) == "folder" and not e.name.startswith(".")
        )
    )


def list_pictures(folder: Path, classes: tuple[str, ...]) -> list[str]:
    """Return the names of all pictures, "CLASS/FILE", sorted within each class; an empty class is an error."""
    found: list[str] = []
    for name in classes:
        files = sorted(entry.name for entry in _entries(folder / name) if _is_picture(entry))
        if not files:
            raise DataError(
                f"the class folder {folder / name} holds no picture ({', '.join(sorted(_ENDINGS))}); fill or remove it"
            )
        found += [f"{name}/{file}" for file in files]
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what lies in a folder, or say why it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise DataError(f"cannot read the folder {folder}: {error.strerror or error}") from error


def _is_picture(entry: os.DirEntry[str]) -> bool:
    ending = Path(entry.name).suffix.lower()
    return not entry.name.startswith(".") and ending in _ENDINGS and kind_of(Path(entry)) == "file"


def _is_split(folder: Path) -> bool:
    """Tell a split from a class that happens to be called "train": a split holds folders."""
    return kind_of(folder) == "folder" and bool(class_names(folder))


def _read_folder(split: str, data_dir: Path | None, holdout: int | None) -> Dataset:
    """Return one split of the user's own class folders in `data_dir`."""
    root = require_data_dir(data_dir, "folder", "your own pictures, one folder per class")
    if any(_is_split(root / part) for part in ("train", "test", "val")):
        test = root / ("test" if _is_split(root / "test") else "val")
        return _read_split_folders("folder", root, test, split, holdout)
    classes = class_names(root)
    if not classes:
        raise DataError(
            f"{root} holds no class folders; put the pictures of each class into a folder of its own"
        )
    names = list_pictures(root, classes)
    is_test = [keyed_fraction(name, "test") < _TEST_SHARE for name in names]
    chosen = [name for name, test in zip(names, is_test, strict=True) if test == (split == "test")]
    if not chosen:
        raise DataError(
            f"the {len(names)} pictures in {root} are too few to leave any for the {split} split; add pictures or "
            f"make folders train and test there"
        )
    return _dataset("folder", root, classes, chosen, split, holdout)


def _read_imagenet(split: str, data_dir: Path | None, holdout: int | None) -> Dataset:
    """Return one split of the folders train/ and val/ in `data_dir`, or in the folder "imagenet" inside it."""
    home = require_data_dir(data_dir, "imagenet", _IMAGENET_ORIGIN)
    root = next(
        (r for r in (home, home / "imagenet") if _is_split(r / "train") or _is_split(r / "val")), None
    )
    if root is None:
        raise DataError(
            f"there is no folder train or val with class folders in {home} nor {home / 'imagenet'}; get ImageNet "
            f"from {_IMAGENET_ORIGIN} and sort its pictures into class folders"
        )
    return _read_split_folders("imagenet", root, root / "val", split, holdout, alone=_IMAGENET_CLASSES)


def _read_split_folders(
    name: str, root: Path, test: Path, split: str, holdout: int | None, *, alone: int | None = None
) -> Dataset:
    """Return one split of a root with train/ and a test folder.

    Args:
        name: the data set's name.
        root: folder that holds train/.
        test: the folder of the test split.
        split: the split to return.
        holdout: training pictures to hold out; None for the usual number.
        alone: number of classes that train/ or the test folder must have where the other is not there to agree.
    """
    train = root / "train"
    wanted = test if split == "test" else train
    if not _is_split(wanted):
        raise DataError(
            f"there is no folder {wanted} with class folders, so {name} has no {split} split; add it"
        )
    classes = class_names(wanted)
    other = train if split == "test" else test
    if _is_split(other):
        differing = sorted(set(classes).symmetric_difference(class_names(other)))
        if differing:
            raise DataError(
                f"{train} and {test} hold different class folders ({len(differing)} are in one only, e.g. "
                f"{differing[0]!r}), so labels would not agree; make them the same"
            )
    elif alone is not None and len(classes) != alone:
        raise DataError(
            f"{wanted} holds {len(classes)} class folders instead of {alone} and there is no {other} to agree with; "
            f"complete it, or read a part of {name} as dataset 'folder'"
        )
    return _dataset(name, wanted, classes, list_pictures(wanted, classes), split, holdout)


def _dataset(
    name: str, root: Path, classes: tuple[str, ...], names: list[str], split: str, holdout: int | None
) -> Dataset:
    """Make the data set of one split; train and holdout are parts of the training pictures `names`."""
    if split != "test":
        ranked = sorted(names, key=lambda picture: (keyed_fraction(picture, "holdout"), picture))
        held_out = set(ranked[: holdout_size(len(names), holdout)])
        names = [picture for picture in names if (picture in held_out) == (split == "holdout")]
    number = {folder: label for label, folder in enumerate(classes)}
    labels = np.array([number[picture.split("/", 1)[0]] for picture in names], dtype=np.int64)
    return Dataset(name, split, PictureFiles(root, names), labels, classes)


IMAGENET = DATASETS.register("imagenet")(
    DataSource(
        summary=f"1,331,167 colour pictures in 1,000 classes, from folders train and val, as {CROP}x{CROP} pixels; "
        "1,276,167 train, 5,000 holdout, 50,000 test",
        splits=SPLITS,
        read=_read_imagenet,
        input_shape=(3, CROP, CROP),
        num_classes=_IMAGENET_CLASSES,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        augmentation="resized-crop-flip",
        train_size=1_276_167,
    )
)
FOLDER = DATASETS.register("folder")(
    replace(
        IMAGENET,
        summary=f"your own pictures, one folder per class, as {CROP}x{CROP} pixels; folders train and test, or a keyed "
        "fifth for test; a tenth of train is the holdout (at most 5,000)",
        read=_read_folder,
        num_classes=None,
        train_size=None,
    )
)
