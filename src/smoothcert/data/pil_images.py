"""Pillow's images in memory: grey and RGB ones become arrays with the channels first, others are refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import DataError

_MODES = {"L": "grey", "RGB": "colours"}


def is_pil_image(value: Any) -> bool:
    """Say whether a value is an image of Pillow; looks at it only where Pillow has been imported."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def pil_pixels(image: Any) -> NDArray[np.uint8]:
    """Return one image of Pillow as uint8, (1, height, width) for grey and (3, height, width) for RGB.

    Not a conversion of colours: palettes, opacity and 16 bits are refused, because what they become is a choice.

    Args:
        image: a `PIL.Image.Image`.
    """
    if image.mode not in _MODES:
        raise DataError(
            f"an image of Pillow must be of mode {' or '.join(_MODES)}, got {image.mode!r}; "
            'convert it with image.convert("RGB") or image.convert("L")'
        )
    pixels = np.asarray(image, dtype=np.uint8)
    return pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def stack_pil(images: Sequence[Any]) -> NDArray[np.uint8]:
    """Return images of Pillow as one array, (N, channels, height, width); all must be of one size and mode.

    Args:
        images: at least one.
    """
    first = images[0]
    for place, image in enumerate(images):
        if not is_pil_image(image):
            raise DataError(
                f"image 0 is one of Pillow, but image {place} is {type(image).__name__}; give all in one form"
            )
        if (image.size, image.mode) != (first.size, first.mode):
            raise DataError(
                f"images must be of one size and mode, but image 0 is {_told(first)} and image {place} {_told(image)}; "
                "resize or convert them"
            )
    return np.stack([pil_pixels(image) for image in images])


def _told(image: Any) -> str:
    return f"{image.size[0]}x{image.size[1]} {image.mode}"
