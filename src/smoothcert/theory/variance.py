"""The variance model of an ensemble (Horvath et al. 2022, section 5): Sigma_c, Sigma_p, zeta_c, zeta_p.

A member's logits at an image are y = y_c + y_p: what training made of the image, plus the effect of the noise. Two
members have the same covariances, and zeta times those between each other; the mean of k members then has the
variance of one times (1 + zeta (k - 1)) / k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.errors import InvalidArgumentError
from smoothcert.theory.member_logits import MemberLogits

Floats = NDArray[np.float64]
# What y_c is: "mean" is the mean over noises of f(x+e), "clean" is f(x).
CLEAN_PARTS = ("mean", "clean")


@dataclass(frozen=True, eq=False)
class VarianceModel:
    """Covariances of logits over classes, averaged over images, and how much of them members share.

    Not a law of one image: see `margin_laws`. At a fixed image the clean outputs of K members vary about their own
    mean, so `zeta_c` is -1/(K-1) whatever the members are: it describes k members drawn from these K. Members
    trained later are independent of them, zeta_c = 0, with `sigma_c` K/(K-1) times as large.

    Args:
        clean_part: a name in `CLEAN_PARTS`.
        sigma_c: covariance of clean outputs about the members' mean at the image, (classes, classes).
        sigma_p: covariance of perturbation effects, (classes, classes).
        zeta_c: median over classes of inter- over intra-member covariance of clean outputs at fixed images.
        zeta_c_images: the same about the mean over all images: how alike the members answer different images.
        zeta_p: the same of perturbation effects.
    """

    clean_part: str
    sigma_c: Floats
    sigma_p: Floats
    zeta_c: float
    zeta_c_images: float
    zeta_p: float


def variance_ratio(k: ArrayLike, zeta: float) -> Floats:
    """Return the variance of the mean of k members over that of one, (1 + zeta (k - 1)) / k (Eq. 3).

    Args:
        k: numbers of members, >= 1.
        zeta: inter- over intra-member covariance.
    """
    size = np.asarray(k, dtype=np.float64)
    if not (size >= 1).all():
        raise InvalidArgumentError(f"k must be at least 1, got {k!r}")
    return np.asarray((1 + zeta * (size - 1)) / size)


def fit_variance_model(logits: MemberLogits, clean_part: str = "mean") -> VarianceModel:
    """Estimate the model from member logits.

    Args:
        logits: of all members under shared noise.
        clean_part: a name in `CLEAN_PARTS`. With "clean" the effect of noise is taken about 0, as the model says it
            is, so that a shift of the mean by noise counts as effect.
    """
    images, noises, _, classes = logits.noisy.shape
    intra_p, inter_p = np.zeros((classes, classes)), np.zeros((classes, classes))
    for effect in perturbation_effects(logits, clean_part):
        intra, inter = _moments(effect)
        intra_p += intra
        inter_p += inter
    y_c = clean_outputs(logits, clean_part)
    intra_c, inter_c = _moments(y_c - y_c.mean(axis=1, keepdims=True))
    intra_x, inter_x = _moments(y_c - y_c.mean(axis=(0, 1)))
    # Centred by their own mean, N effects have N - 1 degrees of freedom; about 0 they have N.
    degrees = noises - 1 if clean_part == "mean" else noises
    return VarianceModel(
        clean_part=clean_part,
        sigma_c=intra_c / images,
        sigma_p=intra_p / (images * degrees),
        zeta_c=_zeta(intra_c, inter_c),
        zeta_c_images=_zeta(intra_x, inter_x),
        zeta_p=_zeta(intra_p, inter_p),
    )


def clean_outputs(logits: MemberLogits, clean_part: str) -> Floats:
    """Return y_c, (images, members, classes)."""
    if clean_part not in CLEAN_PARTS:
        raise InvalidArgumentError(f"clean_part must be one of {', '.join(CLEAN_PARTS)}, got {clean_part!r}")
    if clean_part == "clean":
        return logits.clean.astype(np.float64)
    return np.asarray(logits.noisy.mean(axis=1, dtype=np.float64))


def perturbation_effects(logits: MemberLogits, clean_part: str) -> Iterator[Floats]:
    """Yield y_p of one image after another, (noises, members, classes)."""
    for noisy, y_c in zip(logits.noisy, clean_outputs(logits, clean_part), strict=True):
        yield noisy.astype(np.float64) - y_c


def _moments(parts: Floats) -> tuple[Floats, Floats]:
    """Return second moments summed over rows: mean over members, and mean over pairs of different members."""
    rows, members, classes = parts.shape
    flat, total = parts.reshape(rows * members, classes), parts.sum(axis=1)
    own = flat.T @ flat
    return own / members, (total.T @ total - own) / (members * (members - 1))


def _zeta(intra: Floats, inter: Floats) -> float:
    """Return the median over classes of inter- over intra-member variance; classes that never move are left out."""
    own, shared = np.diag(intra), np.diag(inter)
    moving = own > 1e-12 * max(float(own.max()), 1e-300)
    if not moving.any():
        raise InvalidArgumentError(
            "the members' logits never differ, so there is no variance to share; check that members differ from "
            "each other, and that the noise reaches them"
        )
    return float(np.median(shared[moving] / own[moving]))
