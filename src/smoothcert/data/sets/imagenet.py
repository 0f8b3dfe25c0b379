"""ImageNet: the folders train/ and val/, each with a thousand class folders; val/ is the test split."""

from __future__ import annotations

from smoothcert.data.class_folders import is_split, read_split_folders
from smoothcert.data.dataset import Dataset
from smoothcert.data.picture import CROP
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import SPLITS
from smoothcert.errors import DataError

_CLASSES = 1_000
_ORIGIN = "https://image-net.org/download.php"


def _read(request: Request) -> Dataset:
    """Return one split of the folders train/ and val/ in `data_dir`, or in the folder "imagenet" inside it."""
    home = request.home(_ORIGIN)
    root = next(
        (r for r in (home, home / request.name) if is_split(r / "train") or is_split(r / "val")), None
    )
    if root is None:
        raise DataError(
            f"there is no folder train or val with class folders in {home} nor {home / request.name}; get ImageNet "
            f"from {_ORIGIN} and sort its pictures into class folders"
        )
    return read_split_folders(request, root, root / "val", alone=_CLASSES)


IMAGENET = DataSource(
    summary=f"1,331,167 colour pictures in 1,000 classes, from folders train and val, as {CROP}x{CROP} pixels; "
    "1,276,167 train, 5,000 holdout, 50,000 test",
    splits=SPLITS,
    read=_read,
    input_shape=(3, CROP, CROP),
    num_classes=_CLASSES,
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
    augmentation="resized-crop-flip",
    train_size=1_276_167,
)
