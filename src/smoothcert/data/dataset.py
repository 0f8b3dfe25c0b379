"""A `Dataset`: images, labels and class names of one split, with a digest of what they hold."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.amounts import amount
from smoothcert.data.arrays import as_labels, as_pixels, checked_names, numbered_classes
from smoothcert.data.guesses import dark_bytes
from smoothcert.data.layouts import arrange
from smoothcert.data.pictures import PictureFiles
from smoothcert.data.torch_data import read_torch, torch_class_names
from smoothcert.errors import DataError
from smoothcert.on_demand import torch
from smoothcert.visible import brief, visible

_log = logging.getLogger("smoothcert")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Labelled images of one split; uint8 images are read as [0, 1], float32 images as they are.

    Not a loader that shuffles, augments (see `augmented_batch`) or checks the [0, 1] range (the certifier does the
    last), and not a copy: it keeps views of the arrays it is given, and pictures stay in their files until asked for.

    Args:
        name: the data set's name, e.g. "digits".
        split: which part of it this is, e.g. "test".
        images: uint8 or float32, (N, ...): N images of one shape, also plain vectors; or picture files.
        labels: int64, (N,): indices into `class_names`.
        class_names: one name per class, in the order of the labels.
        data_dir: folder or file it was read from, noted for audits; no part of the digest.
        holdout: how many training images were asked to be held out, for "train" and "holdout"; None for the usual.
    """

    name: str
    split: str
    images: NDArray[Any] | PictureFiles
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    data_dir: Path | None = None
    holdout: int | None = None

    def __post_init__(self) -> None:
        for name in ("name", "split"):
            if not isinstance(getattr(self, name), str):
                raise DataError(f"{name} must be a text, got {brief(getattr(self, name))}")
        checked_names(self.class_names)
        _check_images(self.images)
        _check_labels(self.labels, len(self.images), len(self.class_names))

    @staticmethod
    def from_arrays(
        images: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        name: str = "custom",
        split: str = "test",
        class_names: Sequence[str] | None = None,
        layout: str | None = None,
        allow_any_range: bool = False,
    ) -> Dataset:
        """Make a data set of a user's own arrays; what does not fit raises `DataError`.

        No shape is changed unless `layout` says so: what a model gets is what was given, vectors included.

        Args:
            images: uint8 in 0..255, or floats in [0, 1] (kept as float32), (N, ...): an array, a tensor or a list; or
                a list of Pillow's images, which become (N, channels, height, width).
            labels: integers >= 0, (N,), always needed.
            name: a name for tables and manifests.
            split: the split's name.
            class_names: one name per class; left out, the classes are "0", "1", .. up to the largest label.
            layout: "NHWC" for channels that come last, which are moved; "NHW" for grey images, which get a channel;
                "NCHW"; "any" for shapes that are to stay. None changes nothing, and refuses what looks like NHWC.
            allow_any_range: accept images outside [0, 1], for data that are no pixels.
        """
        pixels, targets = as_pixels(images, allow_any_range=allow_any_range), as_labels(labels)
        pixels = arrange(pixels, layout)
        if pixels.dtype == np.uint8 and pixels.size and (doubt := dark_bytes(int(pixels.max()))):
            _log.warning("%s", doubt)
        names = numbered_classes(targets) if class_names is None else checked_names(class_names)
        return Dataset(name, split, _read_only(pixels), _read_only(targets), names)

    @staticmethod
    def from_torch(
        data: Any,
        *,
        name: str = "custom",
        split: str = "test",
        class_names: Sequence[str] | None = None,
        layout: str | None = None,
        allow_any_range: bool = False,
    ) -> Dataset:
        """Read a torch data set, subset or loader whole into memory; random transforms and orders are refused.

        Not a loader: for more images than fit into memory give a `Subset`.

        Args:
            data: gives (image, label), images as tensors, arrays or Pillow's; a loader gives batches of both.
            name: a name for tables and manifests.
            split: the split's name.
            class_names: one name per class; left out, those of `data.classes`, or "0", "1", ..
            layout: as for `from_arrays`.
            allow_any_range: as for `from_arrays`.
        """
        images, labels = read_torch(data)
        names = torch_class_names(data) if class_names is None else class_names
        return Dataset.from_arrays(
            images,
            labels,
            name=name,
            split=split,
            class_names=names,
            layout=layout,
            allow_any_range=allow_any_range,
        )

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.input_shape))
        return (
            f"Dataset({visible(self.name)}, {visible(self.split)}: {amount(len(self), 'image')} {shape} "
            f"{self.images.dtype}, {self.num_classes:,} classes)"
        )

    def __len__(self) -> int:
        return len(self.images)

    @property
    def record(self) -> dict[str, Any]:
        """What manifests say of it: name, split and digest, and the size of the hold-out where one was asked for."""
        asked = {} if self.holdout is None else {"holdout": self.holdout}
        return {"name": self.name, "split": self.split, "digest": self.digest, **asked}

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one image, e.g. (1, 8, 8)."""
        return tuple(self.images.shape[1:])

    @property
    def num_classes(self) -> int:
        """Number of classes, also of those without an image in this split."""
        return len(self.class_names)

    def image(self, index: int) -> torch.Tensor:
        """Return one image as a new float32 tensor."""
        return self.batch([index])[0]

    def batch(self, indices: Sequence[int] | NDArray[np.integer[Any]]) -> torch.Tensor:
        """Return the images at `indices` as one new float32 tensor, (len(indices), ...)."""
        chosen = self.images[np.asarray(indices, dtype=np.int64)]
        if chosen.dtype == np.uint8:
            chosen = chosen.astype(np.float32) / np.float32(255)
        return torch.from_numpy(chosen)

    @property
    def digest(self) -> str:
        """SHA-256 over dtype, shape and bytes of images and labels, and the class names, as hex digits.

        Computed each time: whoever made the data set may still change the arrays behind it. For picture files,
        `PictureFiles.update_digest` says what stands for the images.
        """
        content = hashlib.sha256()
        if isinstance(self.images, PictureFiles):
            self.images.update_digest(content)
        else:
            _update_digest(content, self.images)
        _update_digest(content, self.labels)
        content.update(json.dumps(self.class_names).encode())
        return content.hexdigest()


def _update_digest(digest: Any, array: NDArray[Any]) -> None:
    """Add an array's dtype, shape and bytes to a hash, whatever its layout in memory."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    digest.update(json.dumps([plain.dtype.str, plain.shape]).encode() + b"\n")
    digest.update(plain.data)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view through which the array cannot be changed, so that a cached digest stays true."""
    view = array.view()
    view.flags.writeable = False
    return view


def _check_images(images: NDArray[Any] | PictureFiles) -> None:
    """Refuse images of another type than uint8 or float32, without a shape, or none at all."""
    if not isinstance(images, np.ndarray | PictureFiles):
        raise DataError(f"images must be an array, got {type(images).__name__}; use Dataset.from_arrays")
    if images.dtype not in (np.uint8, np.float32):
        raise DataError(
            f"images must be uint8 in 0..255 or float32 in [0, 1], got dtype {images.dtype}; convert them"
        )
    if len(images.shape) < 2 or 0 in images.shape:
        raise DataError(
            f"images must have shape (N, ...) with at least one image and one value each, got {images.shape}"
        )


def _check_labels(labels: NDArray[Any], count: int, num_classes: int) -> None:
    """Refuse labels that are not one class index per image."""
    if not isinstance(labels, np.ndarray):
        raise DataError(f"labels must be an array, got {type(labels).__name__}; use Dataset.from_arrays")
    if labels.dtype != np.int64 or labels.ndim != 1:
        raise DataError(f"labels must be int64 of shape (N,), got {labels.dtype} of shape {labels.shape}")
    if len(labels) != count:
        raise DataError(f"there are {count} images but {len(labels)} labels; give one label per image")
    if labels.min() < 0 or labels.max() >= num_classes:
        wrong = int(labels.min()) if labels.min() < 0 else int(labels.max())
        raise DataError(f"labels must lie in 0..{num_classes - 1} for {num_classes} classes, got {wrong}")
