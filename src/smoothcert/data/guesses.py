"""Guesses at what a user's images are when they are not what a certificate needs: told in errors, never acted upon."""

from __future__ import annotations

from collections.abc import Sequence

_CHANNELS = (1, 3, 4)  # grey, RGB, RGB with opacity
_SMALLEST_SIDE = 5  # pixels: a side that is shorter may be channels
_BRIGHTER = 8  # deviations above the mean: no pixel is after normalisation
_DARKEST_WHITE = 32  # of bytes: images whose brightest pixel is darker are hardly of 0..255
_NEARLY = 0.02  # beyond [0, 1]: what resizing by curves leaves


def is_channels_last(shape: Sequence[int]) -> bool:
    """Say whether the shape of one image is that of (height, width, channels) and hardly of (channels, height, width).

    Args:
        shape: of one image.
    """
    if len(shape) != 3 or shape[2] not in _CHANNELS:
        return False
    return min(shape[:2]) >= _SMALLEST_SIDE


def range_fix(low: float, high: float) -> str:
    """Say what values outside [0, 1] look like, and what to do about them.

    Args:
        low: the smallest value.
        high: the largest value.
    """
    if low >= -_NEARLY and high <= 1 + _NEARLY:
        fix = "they look like pixels that resizing has pushed out a little: clip them to [0, 1]"
    elif low >= 0 and _BRIGHTER < high <= _DARKEST_WHITE:
        fix = f"they look like pixels on a scale of their own: divide by its white, such as {high:g}"
    elif low >= 0 and _BRIGHTER < high <= 255:
        fix = "they look like bytes kept as other numbers: divide by 255, or convert them to uint8"
    elif low >= -1 and high <= 1:
        fix = "they look scaled to [-1, 1]: give (x + 1) / 2 and let the model scale them"
    else:
        fix = "they look normalised already: leave that out and move normalisation into the model"
    return f"{fix}; for data that are no pixels pass allow_any_range=True"


def dark_bytes(high: int) -> str:
    """Say that bytes are suspiciously dark; empty where they are not.

    Args:
        high: the largest of all images.
    """
    if high > _DARKEST_WHITE:
        return ""
    return (
        f"the images are bytes up to {high}, read as at most {high / 255:.3f} of white; if {high} is their white, give "
        f"images / {max(high, 1)}"
    )


def shape_fix(shape: Sequence[int], wanted: Sequence[int]) -> str:
    """Say what to do about an image of another shape than a model takes; empty where nothing is likely.

    Args:
        shape: of the image.
        wanted: what the model takes.
    """
    shape, wanted = tuple(shape), tuple(wanted)
    if (*shape[2:], *shape[:2]) == wanted and len(shape) == 3:
        return (
            "; it looks like (height, width, channels): move the channels first, image.transpose(2, 0, 1), or read a "
            'whole array with Dataset.from_arrays(.., layout="NHWC")'
        )
    if (1, *shape) == wanted:
        return (
            "; it has no channel: give image[None], or read a whole array with "
            'Dataset.from_arrays(.., layout="NHW")'
        )
    return ""
