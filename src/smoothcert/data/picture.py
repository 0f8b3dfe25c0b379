"""One picture file decoded to 224x224 pixels: the field's centre crop, or a random crop for training.

This file imports neither torch nor the rest of the package at its top (but errors and how files are read), so that it
says all that decides the pixels.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import DataError
from smoothcert.reading import read_bytes

if TYPE_CHECKING:
    from PIL.Image import Image

RESIZE, CROP = 256, 224  # pixels: shorter side after resizing, sides of the crop
MOST_PICTURE_BYTES = 2**27
"""Of a picture's file."""
_MOST_PIXELS = 2**26  # the largest picture of ImageNet has 61 million
_MOST_RATIO = 100  # of the sides: resizing makes the shorter one 256 pixels, and the other as much longer
# What the endings of picture files stand for. Pillow would open many more by their content, one by running a program.
_FORMATS = ("JPEG", "PNG", "BMP", "GIF", "WEBP", "TIFF", "PPM")
_ATTEMPTS = 10
RANDOM_CROP_NUMBERS = 2 * _ATTEMPTS + 3  # area and ratio per attempt, then place (2) and flip
_AREA = (0.08, 1.0)  # of the picture
_RATIO = (3 / 4, 4 / 3)  # width to height

Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels


def decode_picture(path: Path | str, numbers: Sequence[float] | None = None) -> NDArray[np.uint8]:
    """Return a picture as uint8 (3, 224, 224), or raise `DataError` with the file's name.

    Shorter side to 256 by antialiased bilinear resizing, then the central 224x224; with `numbers`, a random part
    resized to 224x224 and perhaps mirrored. Not turned by EXIF orientation, as nobody in the field does.

    Args:
        path: the file, JPEG, PNG, BMP, GIF, WebP, TIFF or PPM; grey and palette pictures become RGB.
        numbers: `RANDOM_CROP_NUMBERS` numbers in [0, 1) that decide the random crop; None: the centre crop.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd EXIF blocks and palettes: the pixels are what they are
            content = io.BytesIO(read_bytes(Path(path), DataError, most=MOST_PICTURE_BYTES))
            with Image.open(content, formats=_FORMATS) as file:
                _refuse_size(*file.size)
                picture = file.convert("RGB")
        chosen = _centre(picture) if numbers is None else _random_crop(picture, numbers)
    except Exception as error:  # Pillow raises many kinds for damaged files
        raise DataError(f"cannot decode the picture {path}: {error}; replace the file") from error
    return np.ascontiguousarray(np.asarray(chosen, dtype=np.uint8).transpose(2, 0, 1))


def _refuse_size(width: int, height: int) -> None:
    """Refuse a picture that would fill the memory once it is decoded, or once it is resized."""
    if width * height > _MOST_PIXELS:
        raise DataError(f"it has {width} x {height} pixels, and {_MOST_PIXELS:,} is the most")
    if max(width, height) > _MOST_RATIO * min(width, height):
        raise DataError(
            f"it has {width} x {height} pixels, a side over {_MOST_RATIO} times as long as the other"
        )


def _centre(picture: Image) -> Image:
    """Resize the shorter side to 256 and cut out the centre."""
    from PIL.Image import Resampling

    width, height = picture.size
    short = min(width, height)
    width, height = RESIZE * width // short, RESIZE * height // short
    left, top = round((width - CROP) / 2), round((height - CROP) / 2)
    return picture.resize((width, height), Resampling.BILINEAR).crop((left, top, left + CROP, top + CROP))


def _random_crop(picture: Image, numbers: Sequence[float]) -> Image:
    """Cut out the part that the numbers choose, resize it and mirror it if the last number is under 1/2."""
    from PIL.Image import Resampling, Transpose

    cropped = picture.resize((CROP, CROP), Resampling.BILINEAR, box=random_box(*picture.size, numbers))
    return cropped.transpose(Transpose.FLIP_LEFT_RIGHT) if numbers[-1] < 0.5 else cropped


def random_box(width: int, height: int, numbers: Sequence[float]) -> Box:
    """Return the part of a picture that the numbers choose: 8 to 100% of its area, ratio 3:4 to 4:3.

    The first of ten attempts that fits inside is taken; if none fits, the largest centred part of such a ratio.

    Args:
        width: of the picture, in pixels.
        height: of the picture, in pixels.
        numbers: `RANDOM_CROP_NUMBERS` numbers in [0, 1).
    """
    across, down = numbers[-3], numbers[-2]
    low, high = math.log(_RATIO[0]), math.log(_RATIO[1])
    for attempt in range(_ATTEMPTS):
        area = width * height * (_AREA[0] + (_AREA[1] - _AREA[0]) * numbers[2 * attempt])
        ratio = math.exp(low + (high - low) * numbers[2 * attempt + 1])
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            left, top = math.floor(across * (width - w + 1)), math.floor(down * (height - h + 1))
            return left, top, left + w, top + h
    w = min(width, max(1, round(height * _RATIO[1])))
    h = min(height, max(1, round(width / _RATIO[0])))
    left, top = (width - w) // 2, (height - h) // 2
    return left, top, left + w, top + h
