"""Ensembles of k out of K members to observe: every run of k neighbours in the members' circle.

Each member is in equally many of them, k = 1 gives all members and k = K the whole ensemble. All subsets would be no
observation of the variance: averaged over those, (1 + zeta (k - 1)) / k holds by algebra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smoothcert.theory.member_covariance import Floats
from smoothcert.theory.member_logits import MemberLogits
from smoothcert.theory.variance import clean_outputs, perturbation_effects

_ALL_UP_TO = 10


@dataclass(frozen=True, eq=False)
class ObservedRatios:
    """Variance of ensembles of k over that of one member, in the margin between leading class and runner-up.

    Args:
        clean: of clean outputs over the choice of members, (sizes,).
        noise: of perturbation effects, mean over windows, (sizes,).
        noise_low: smallest over windows, (sizes,).
        noise_high: largest over windows, (sizes,).
    """

    clean: Floats
    noise: Floats
    noise_low: Floats
    noise_high: Floats


def ensemble_sizes(members: int) -> tuple[int, ...]:
    """Return the numbers k to look at: 1 to 10, then about six per factor of ten, and K itself."""
    small = range(1, min(members, _ALL_UP_TO) + 1)
    steps = np.geomspace(_ALL_UP_TO, members, max(2, round(6 * np.log10(members / _ALL_UP_TO)) + 1)).round()
    return (*small, *(int(k) for k in np.unique(steps) if k > _ALL_UP_TO))


def window_means(parts: NDArray[np.floating], k: int, axis: int) -> Floats:
    """Return the means of k neighbours along the circle of members; the axis keeps its length K, or 1 if k = K."""
    if k == parts.shape[axis]:
        return np.asarray(parts.mean(axis=axis, keepdims=True, dtype=np.float64))
    total = np.zeros(parts.shape)
    for step in range(k):
        total += np.roll(parts, -step, axis=axis)
    return total / k


def observed_ratios(logits: MemberLogits, clean_part: str, sizes: Sequence[int]) -> ObservedRatios:
    """Return the observed variance ratios, summed over images before they are divided.

    Args:
        logits: of all members under shared noise.
        clean_part: a name in `CLEAN_PARTS`.
        sizes: numbers of members k.
    """
    y_c = clean_outputs(logits, clean_part)
    order = np.argsort(-y_c.mean(axis=1), axis=1, kind="stable")
    rows = np.arange(len(y_c))
    margin_c = y_c[rows, :, order[:, 0]] - y_c[rows, :, order[:, 1]]  # (images, members)
    margin_p = np.stack(
        [
            effect[:, :, first] - effect[:, :, second]
            for effect, (first, second) in zip(
                perturbation_effects(logits, clean_part), order[:, :2], strict=True
            )
        ]
    )  # (images, noises, members)
    centre = margin_c.mean(axis=1, keepdims=True)
    clean = [float(((window_means(margin_c, k, 1) - centre) ** 2).mean()) for k in sizes]
    noise = [(window_means(margin_p, k, 2) ** 2).mean(axis=(0, 1)) for k in sizes]  # one entry per window
    one_c, one_p = ((margin_c - centre) ** 2).mean(), (margin_p**2).mean()
    return ObservedRatios(
        clean=np.array(clean) / one_c,
        noise=np.array([window.mean() for window in noise]) / one_p,
        noise_low=np.array([window.min() for window in noise]) / one_p,
        noise_high=np.array([window.max() for window in noise]) / one_p,
    )
