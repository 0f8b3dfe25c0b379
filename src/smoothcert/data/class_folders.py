"""Class folders of pictures: listed, numbered and split, ImageNet's as well as a user's own.

Classes are numbered in the order of their folders' names. The hold-out are 5,000 training pictures (a tenth, where
there are fewer than 50,000): those whose names have the smallest keyed hash. Pictures are decoded when they are asked
for: shorter side to 256 pixels, central 224x224.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from smoothcert.data.dataset import Dataset
from smoothcert.data.pictures import PictureFiles
from smoothcert.data.source import Request
from smoothcert.data.splits import holdout_size, keyed_fraction
from smoothcert.errors import DataError
from smoothcert.reading import kind_of

_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})


def class_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the class folders in `folder`, sorted; hidden ones are left out."""
    return tuple(
        sorted(
            e.name for e in _entries(folder) if kind_of(Path(e)) == "folder" and not e.name.startswith(".")
        )
    )


def list_pictures(folder: Path, classes: tuple[str, ...]) -> list[str]:
    """Return the names of all pictures, "CLASS/FILE", sorted within each class; an empty class is an error."""
    pictures: list[str] = []
    for name in classes:
        files = sorted(entry.name for entry in _entries(folder / name) if _is_picture(entry))
        if not files:
            raise DataError(
                f"the class folder {folder / name} holds no picture ({', '.join(sorted(_ENDINGS))}); fill or remove it"
            )
        pictures += [f"{name}/{file}" for file in files]
    return pictures


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


def is_split(folder: Path) -> bool:
    """Tell a split from a class that happens to be called "train": a split holds folders."""
    return kind_of(folder) == "folder" and bool(class_names(folder))


def read_split_folders(request: Request, root: Path, test: Path, *, alone: int | None = None) -> Dataset:
    """Return one split of a root with train/ and a test folder.

    Args:
        request: what is asked for.
        root: folder that holds train/.
        test: the folder of the test split.
        alone: number of classes that train/ or the test folder must have where the other is not there to agree.
    """
    name, split = request.name, request.split
    train = root / "train"
    wanted = test if split == "test" else train
    if not is_split(wanted):
        raise DataError(
            f"there is no folder {wanted} with class folders, so {name} has no {split} split; add it"
        )
    classes = class_names(wanted)
    other = train if split == "test" else test
    if is_split(other):
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
    return pictures_in(request, wanted, classes, list_pictures(wanted, classes))


def pictures_in(request: Request, root: Path, classes: tuple[str, ...], names: list[str]) -> Dataset:
    """Make the data set of one split; train and holdout are parts of the training pictures `names`.

    Args:
        request: what is asked for.
        root: folder that holds the class folders.
        classes: names of the class folders, in the order of the labels.
        names: of the pictures, "CLASS/FILE".
    """
    if request.split != "test":
        ranked = sorted(names, key=lambda picture: (keyed_fraction(picture, "holdout"), picture))
        held_out = set(ranked[: holdout_size(len(names), request.holdout)])
        names = [picture for picture in names if (picture in held_out) == (request.split == "holdout")]
    number = {folder: label for label, folder in enumerate(classes)}
    labels = np.array([number[picture.split("/", 1)[0]] for picture in names], dtype=np.int64)
    return Dataset(request.name, request.split, PictureFiles(root, names), labels, classes)
