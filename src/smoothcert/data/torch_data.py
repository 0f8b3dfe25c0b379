"""Data sets and loaders of torch, read whole: every (image, label) in their order, random ones refused."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothcert.data.arrays import as_array, checked_names
from smoothcert.data.pil_images import is_pil_image, pil_pixels
from smoothcert.errors import DataError
from smoothcert.visible import brief

if TYPE_CHECKING:
    from torch.utils.data import DataLoader
    from torch.utils.data import Dataset as TorchDataset

    TorchData = TorchDataset[Any] | DataLoader[Any]
else:
    TorchData = Any
"""What torch calls a data set, subsets included, and a loader."""
_READ_TWICE = 32  # images: a transform that changes every tenth reading is missed once in a thousand times
_FIX = "leave random transforms out, and give a loader shuffle=False"


def is_torch_data(value: Any) -> bool:
    """Say whether a value is a data set or a loader of torch; looks at it only where torch has been imported."""
    module = sys.modules.get("torch.utils.data")
    return module is not None and isinstance(value, module.Dataset | module.DataLoader)


def read_torch(data: Any) -> tuple[list[Any], list[int]]:
    """Return all images and labels of a torch data set or loader; of a loader in the order of its batches.

    Some are read twice, and refused if they differ: whatever is certified must be the image that was read.

    Args:
        data: gives (image, label), or batches of both for a loader; must know its length.
    """
    if not is_torch_data(data):
        raise DataError(
            f"data must be a Dataset or a DataLoader of torch, got {type(data).__name__}; of arrays make a data set "
            "with Dataset.from_arrays(images, labels)"
        )
    expected = _length(data)
    again = list(islice(_items(data), _READ_TWICE))
    images: list[Any] = []
    labels: list[int] = []
    for place, (image, label) in enumerate(_items(data)):
        if place < len(again):
            _refuse_other(place, (image, label), again[place])
        if images and image.shape != images[0].shape:
            raise DataError(
                f"images must be of one shape, but image 0 has {images[0].shape} and image {place} {image.shape}; "
                "resize them in the transforms"
            )
        images.append(image)
        labels.append(label)
    if expected not in (None, len(images)):
        raise DataError(
            f"{type(data).__name__} gave {len(images)} images of the {expected} that it says it has; give a loader "
            "drop_last=False"
        )
    return images, labels


def torch_class_names(data: Any) -> Sequence[str] | None:
    """Return the names of classes that a torch data set tells as torchvision's do; None where it tells none.

    Args:
        data: a data set, a subset of one, or a loader.
    """
    for _ in range(10):  # subsets of subsets
        names = getattr(data, "classes", None)
        if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
            return checked_names(names)
        if (data := getattr(data, "dataset", None)) is None:
            break
    return None


def _length(data: Any) -> int | None:
    """Return how many images there are to read; None where a batch sampler of the user's own decides."""
    from torch.utils.data import BatchSampler, DataLoader

    try:
        if not isinstance(data, DataLoader):
            return len(data)
        len(data)  # refused where a stream has none
        if data.batch_sampler is None:
            return len(data.sampler)  # type: ignore[arg-type]  # one without a length raises
        return len(data.batch_sampler.sampler) if type(data.batch_sampler) is BatchSampler else None  # type: ignore[arg-type]
    except TypeError as error:
        raise DataError(
            f"{type(data).__name__} has no length, so its images have no fixed places; collect them and use "
            "Dataset.from_arrays(images, labels)"
        ) from error


def _items(data: Any) -> Iterator[tuple[Any, int]]:
    """Yield every image, as array, and its label."""
    from torch.utils.data import DataLoader

    if not isinstance(data, DataLoader):
        pairs: Iterable[Any] = (data[place] for place in range(len(data)))
    elif data.batch_size is None and data.batch_sampler is None:  # batching is switched off
        pairs = iter(data)
    else:
        pairs = chain.from_iterable(_rows(batch) for batch in data)
    return (_item(pair) for pair in pairs)


def _rows(batch: Any) -> Iterator[tuple[Any, Any]]:
    images, labels = _pair(batch)
    if len(images) != len(labels):
        raise DataError(f"a batch has {len(images)} images but {len(labels)} labels; look at its collate_fn")
    return zip(images, labels, strict=True)


def _pair(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        got = f"{type(value).__name__} of {len(value)}" if hasattr(value, "__len__") else type(value).__name__
        raise DataError(
            f"the data must give (image, label), got {got}; collect both and use Dataset.from_arrays(images, labels)"
        )
    return value[0], value[1]


def _item(value: Any) -> tuple[Any, int]:
    image, label = _pair(value)
    pixels = pil_pixels(image) if is_pil_image(image) else as_array("images", image)
    number = np.asarray(label) if isinstance(label, int | float | np.generic) else as_array("labels", label)
    if number.size != 1 or not np.issubdtype(number.dtype, np.integer):
        raise DataError(f"labels must be single whole numbers, got {brief(label)}; number the classes from 0")
    return pixels, int(number.reshape(()))


def _refuse_other(place: int, item: tuple[Any, int], before: tuple[Any, int]) -> None:
    """Refuse an image that is another one when it is read again."""
    same = item[0].shape == before[0].shape and np.array_equal(item[0], before[0], equal_nan=_floats(item[0]))
    if not same or item[1] != before[1]:
        raise DataError(f"image {place} is another one each time it is read; {_FIX}")


def _floats(pixels: Any) -> bool:
    return bool(np.issubdtype(pixels.dtype, np.floating))
