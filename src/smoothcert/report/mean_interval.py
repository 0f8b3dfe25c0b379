"""An approximate interval for a mean over images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit


def mean_interval(values: NDArray[np.float64], alpha: float) -> tuple[float, float] | None:
    """Return (low, high) around the mean by the t distribution; None where the values show no spread.

    Approximate: radii over images are far from normal. Not a statement about other trainings.

    Args:
        values: one per image.
        alpha: two-sided error probability.
    """
    if len(values) < 2 or not (spread := float(values.std(ddof=1))):
        return None
    half = float(stdtrit(len(values) - 1, 1 - alpha / 2)) * spread / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)
