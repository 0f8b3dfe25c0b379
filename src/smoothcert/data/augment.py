"""Augmentations of training images: functions of rows, with a generator as the only randomness.

Every row is changed by its own few uniform numbers, drawn for the whole step at once: the images of a step do not
depend on what is in the batch, on decoding workers, or on how many processes share the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.dataset import Dataset
from smoothcert.data.picture import RANDOM_CROP_NUMBERS
from smoothcert.data.pictures import PictureFiles
from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import torch
from smoothcert.registry import Table

PAD = 4  # pixels


@dataclass(frozen=True)
class Augmentation:
    """One way to vary training images.

    Not tied to a data set: `DataSource.augmentation` names the one it is usually trained with.

    Args:
        summary: one line for listings.
        numbers: uniform numbers that each row needs.
        batch: from a data set, indices and numbers, (rows, numbers), to images in pixel units.
    """

    summary: str
    numbers: int
    batch: Callable[[Dataset, NDArray[np.int64], torch.Tensor], torch.Tensor]


AUGMENTATIONS: Table[Augmentation] = Table("augmentation")


def augmented_batch(
    dataset: Dataset,
    indices: Sequence[int] | NDArray[np.integer[Any]],
    name: str,
    generator: torch.Generator,
    *,
    first: int = 0,
    total: int | None = None,
) -> torch.Tensor:
    """Return the images at `indices`, augmented, as one new float32 tensor.

    Args:
        dataset: the training split.
        indices: this process's rows of the step.
        name: a name in `AUGMENTATIONS`.
        generator: placed at the start of the step's stream; on the CPU.
        first: place of this process's first row in the step.
        total: rows of the whole step; None if this process has them all.
    """
    chosen, rows = AUGMENTATIONS[name], np.asarray(indices, dtype=np.int64)
    total = len(rows) if total is None else total
    if not 0 <= first <= total - len(rows):
        raise InvalidArgumentError(
            f"rows {first}..{first + len(rows) - 1} do not lie within a step of {total} rows; give first and total "
            "of this process"
        )
    numbers = _draw(total, chosen.numbers, generator)[first : first + len(rows)]
    return chosen.batch(dataset, rows, numbers)


def crop_flip(images: torch.Tensor, generator: torch.Generator, pad: int = PAD) -> torch.Tensor:
    """Shift every image by up to `pad` pixels, black coming in at the border, and mirror half of them.

    Args:
        images: (rows, channels, height, width), in pixel units.
        generator: the only source of randomness.
        pad: largest shift, in pixels.
    """
    return crop_flip_by(images, _draw(len(images), 3, generator), pad)


def crop_flip_by(images: torch.Tensor, numbers: torch.Tensor, pad: int = PAD) -> torch.Tensor:
    """Shift and mirror every image as its three numbers say: down, across, and mirrored if under 1/2.

    Args:
        images: (rows, channels, height, width), in pixel units.
        numbers: (rows, 3), in [0, 1).
        pad: largest shift, in pixels.
    """
    if images.ndim != 4:
        raise InvalidArgumentError(
            f"crop-flip takes images (rows, channels, height, width), got shape {tuple(images.shape)}; choose "
            "augmentation none"
        )
    if pad < 0:
        raise InvalidArgumentError(f"pad must be at least 0 pixels, got {pad}")
    rows, channels, height, width = images.shape
    numbers = numbers.to(images.device)
    down, across = (numbers[:, :2] * (2 * pad + 1)).long().unbind(1)
    columns = torch.arange(width, device=images.device).expand(rows, width)
    columns = torch.where(numbers[:, 2:] < 0.5, columns.flip(1), columns) + across[:, None]
    lines = torch.arange(height, device=images.device) + down[:, None]
    padded = torch.nn.functional.pad(images, (pad, pad, pad, pad))
    row = torch.arange(rows, device=images.device)[:, None, None, None]
    channel = torch.arange(channels, device=images.device)[None, :, None, None]
    return padded[row, channel, lines[:, None, :, None], columns[:, None, None, :]]


def _draw(rows: int, numbers: int, generator: torch.Generator) -> torch.Tensor:
    """Draw uniform numbers in [0, 1), (rows, numbers)."""
    return torch.rand(rows, numbers, dtype=torch.float64, generator=generator, device=generator.device)


def _resized_crop_flip(dataset: Dataset, rows: NDArray[np.int64], numbers: torch.Tensor) -> torch.Tensor:
    """Cut random parts out of the picture files themselves, while they are decoded."""
    if not isinstance(dataset.images, PictureFiles):
        raise InvalidArgumentError(
            f"resized-crop-flip needs pictures in files, and {dataset.name} is kept as arrays; choose crop-flip or none"
        )
    return torch.from_numpy(dataset.images.decode(rows, numbers.cpu().numpy())).float().div_(255)


AUGMENTATIONS.register("none")(
    Augmentation("images as they are", 0, lambda dataset, rows, numbers: dataset.batch(rows))
)
AUGMENTATIONS.register("crop-flip")(
    Augmentation(
        "shift by up to 4 pixels and mirror (CIFAR, SVHN)",
        3,
        lambda dataset, rows, numbers: crop_flip_by(dataset.batch(rows), numbers),
    )
)
AUGMENTATIONS.register("resized-crop-flip")(
    Augmentation(
        "random part of 8 to 100% of the area, resized, and mirror (ImageNet, folder)",
        RANDOM_CROP_NUMBERS,
        _resized_crop_flip,
    )
)
