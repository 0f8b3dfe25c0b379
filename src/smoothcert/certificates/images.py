"""From what a user calls an image to the tensor that is certified."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from smoothcert.errors import InvalidImageError


def check_image(image: Any, *, allow_any_range: bool = False) -> torch.Tensor:
    """Return the image as a float32 tensor, refusing what no certificate should be about.

    Bytes (uint8) are divided by 255. Never scales, clips or reshapes anything else.

    Args:
        image: tensor, array or nested list of any shape, values in [0, 1].
        allow_any_range: accept values outside [0, 1], for data that are not pixels.
    """
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
            "divide by 255, move normalisation into the model, or pass allow_any_range=True"
        )
    return tensor
