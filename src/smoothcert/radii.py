"""Radii as headings and keys: what is read off a curve is read at the radius that is named."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DIGITS = 6  # significant, as `:g` shows
_MOST_STEPS = 10_000
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR)


def radius_grid(largest: float, step: float = 0.25) -> NDArray[np.float64]:
    """Return 0, step, 2 step, .. up to the first value that no radius exceeds.

    Over ten thousand steps would be taken ten times as wide, and so on: no table has room for them.
    """
    while largest / step > _MOST_STEPS:
        step *= 10
    steps = np.arange(int(np.ceil(round(largest / step, 9))) + 1)
    return np.asarray(np.round(steps * step, 12), dtype=np.float64)  # 3 x 0.1 is .3


def named_radii(radii: ArrayLike) -> NDArray[np.float64]:
    """Return radii rounded down to six significant digits, so that `:g` names each exactly.

    Rounded to nearest, a heading could be larger than the radius whose figures stand below it.
    """
    named = [float(_DOWN.create_decimal(Decimal(repr(float(radius))))) for radius in np.ravel(radii)]
    return np.array(named, dtype=np.float64)


def radius_key(radius: float) -> str:
    """Return a named radius as a key of JSON: two decimals where these tell it."""
    return f"{radius:.2f}" if round(radius, 2) == radius else f"{radius:g}"


def asked_radii(procedure: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Return the radii that a procedure asks about, increasing; None if it looks for the largest.

    Args:
        procedure: as a run's manifest describes it; empty for a log.
    """
    radii = procedure.get("radii") or [procedure.get("radius")]
    return None if None in radii else tuple(sorted(radii))
