"""Numbers that a law is given: scales, probabilities and radii, refused outside their domain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

_SMALLEST, _LARGEST = 1e-4, 1e4  # float32 resolves 6e-8 near 1: enough below the one, and above for the other


def check_scale(name: str, value: float) -> None:
    """Refuse a noise parameter that is not a positive, finite number, or too small to show in a float32 pixel."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    # Comparisons alone: an integer may be too large to become a float.
    if not number or not 0 < value < math.inf:
        raise InvalidArgumentError(
            f"{name} must be a positive, finite number of pixel units (images span [0, 1]), got {brief(value)}"
        )
    if not _SMALLEST <= value <= _LARGEST:
        raise InvalidArgumentError(
            f"{name} must lie between {_SMALLEST:g} and {_LARGEST:g}, where float32 pixels can show the noise, "
            f"got {brief(value)}"
        )


def checked_probability(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return probabilities as an array; refuse what lies outside [0, 1]."""
    p = np.asarray(value, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise InvalidArgumentError(f"{name} must lie in [0, 1], got {brief(value)}")
    return p


def checked_radius(value: ArrayLike) -> NDArray[np.float64]:
    """Return radii as an array; refuse what is not >= 0."""
    r = np.asarray(value, dtype=np.float64)
    if not (r >= 0).all():
        raise InvalidArgumentError(f"radius must be >= 0, got {brief(value)}")
    return r


def plain(values: NDArray[np.float64]) -> Any:
    """Return a float for a scalar, the array otherwise."""
    return float(values) if values.ndim == 0 else values


def in_words(parameters: Mapping[str, Any]) -> str:
    """Return a law's parameters as a sentence names them, such as "keep 0.8, levels 2"."""
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, int | float) else f"{name} {value}"
        for name, value in parameters.items()
    )
