"""From what a user calls an image to the tensor that is certified."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.data import is_channels_last, is_pil_image, pil_pixels, range_fix, shape_fix
from smoothcert.errors import DataError, InvalidImageError


def check_image(
    image: Any,
    *,
    allow_any_range: bool = False,
    input_shape: tuple[int, ...] | None = None,
    alone: bool = False,
) -> torch.Tensor:
    """Return the image as a float32 tensor, refusing what no certificate should be about.

    Bytes (uint8) are divided by 255. Never scales, clips or reshapes anything else.

    Args:
        image: tensor, array, nested list or image of Pillow, of any shape, values in [0, 1].
        allow_any_range: accept values outside [0, 1], for data that are not pixels.
        input_shape: what the model takes; None if nobody says.
        alone: whether the image comes without a data set: then one that looks like (height, width, channels) is refused
            where nobody says what the model takes.
    """
    if is_pil_image(image):
        image = _pixels(image)
    try:
        tensor = image.detach() if isinstance(image, torch.Tensor) else torch.as_tensor(np.asarray(image))
    except (TypeError, ValueError) as error:
        raise InvalidImageError(f"cannot read an image from {type(image).__name__}: {error}") from error
    if tensor.is_complex() or tensor.layout != torch.strided or tensor.is_meta:
        raise InvalidImageError(
            f"the image is a tensor of {tensor.dtype}, {tensor.layout} on {tensor.device}; give real numbers"
        )
    if tensor.numel() == 0:
        raise InvalidImageError(f"the image is empty (shape {tuple(tensor.shape)}); give at least one value")
    if tensor.dtype == torch.uint8:
        tensor = tensor.to(torch.float32) / 255
    tensor = tensor.to(torch.float32).contiguous()
    if not bool(torch.isfinite(tensor).all()):
        raise InvalidImageError("the image has NaN or infinite values; fix the data before certifying it")
    low, high = float(tensor.min()), float(tensor.max())
    if not allow_any_range and (low < 0 or high > 1):
        raise InvalidImageError(
            f"the image has values from {low:g} to {high:g}, but pixels span [0, 1] and radii are in those units; "
            f"{range_fix(low, high)}"
        )
    _check_shape(tuple(tensor.shape), input_shape, alone)
    return tensor


def _check_shape(shape: tuple[int, ...], wanted: tuple[int, ...] | None, alone: bool) -> None:
    if wanted is not None and shape != tuple(wanted):
        raise InvalidImageError(
            f"the image has shape {shape}, but the model takes {tuple(wanted)}{shape_fix(shape, wanted)}"
        )
    # A network that flattens its input would take it without a word, and see another picture.
    if wanted is None and alone and is_channels_last(shape):
        raise InvalidImageError(
            f"the image of shape {shape} looks like (height, width, channels), but networks of torch take channels "
            "first: give image.transpose(2, 0, 1), or say what the model takes with SmoothedClassifier(.., "
            f"input_shape={shape})"
        )


def _pixels(image: Any) -> NDArray[np.uint8]:
    try:
        return pil_pixels(image).copy()  # Pillow's own memory must not be written to
    except DataError as error:
        raise InvalidImageError(str(error)) from error
