"""How the axes of a user's array lie: told by the user, because nothing about a shape proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.data.guesses import is_channels_last
from smoothcert.errors import DataError
from smoothcert.visible import brief


@dataclass(frozen=True)
class _Layout:
    """One way to lay images out.

    Args:
        axes: how many the array must have; None for any number.
        arranged: from the array to the one that a model gets.
    """

    axes: int | None
    arranged: Callable[[NDArray[Any]], NDArray[Any]]


LAYOUTS = {
    "NCHW": _Layout(4, lambda pixels: pixels),
    "NHWC": _Layout(4, lambda pixels: np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))),
    "NHW": _Layout(3, lambda pixels: pixels[:, None]),
    "any": _Layout(None, lambda pixels: pixels),
}
"""What `layout` may be: N images, C channels, H rows, W columns; "any" leaves every shape as it is."""


def arrange(pixels: NDArray[Any], layout: str | None) -> NDArray[Any]:
    """Return images with their channels first, as the user says that they lie.

    Without a layout nothing is changed, and an array that looks like (N, height, width, channels) is refused.

    Args:
        pixels: (N, ...).
        layout: a name in `LAYOUTS`, or None.
    """
    if layout is None:
        if pixels.ndim == 4 and is_channels_last(pixels.shape[1:]):
            raise DataError(
                f"images of shape {pixels.shape} look like (N, height, width, channels), but networks of torch take "
                'channels first; say layout="NHWC" to have them moved, or layout="any" to keep them as they are'
            )
        return pixels
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise DataError(f"layout must be one of {', '.join(LAYOUTS)}, or None, got {brief(layout)}")
    known = LAYOUTS[layout]
    if known.axes not in (None, pixels.ndim):
        raise DataError(
            f"layout {layout!r} is for arrays of {known.axes} axes, but images have shape {pixels.shape}; say another "
            "layout or none"
        )
    return known.arranged(pixels)
