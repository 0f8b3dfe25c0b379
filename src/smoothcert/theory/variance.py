"""The variance model of an ensemble (Horvath et al. 2022, section 5): Sigma_c, Sigma_p, zeta_c, zeta_p.

A member's logits at an image are y = y_c + y_p: what training made of the image, plus the effect of the noise. Two
members have the same covariances, and zeta times those between each other; the mean of k members then has the
variance of one times (1 + zeta (k - 1)) / k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from smoothcert.errors import InvalidArgumentError
from smoothcert.theory.member_covariance import Floats, MemberCovariance
from smoothcert.theory.member_logits import MemberLogits

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
        clean: of clean outputs about the members' mean at the image.
        images: of clean outputs about the mean over all images: how alike the members answer different images.
        noise: of perturbation effects.
        clean_noise: Cov(y_c, y_p) of one member at fixed images, a row per class of y_c; the model takes it to be 0,
            which it is by definition where y_c is the mean over noise.
    """

    clean_part: str
    clean: MemberCovariance
    images: MemberCovariance
    noise: MemberCovariance
    clean_noise: Floats

    @property
    def sigma_c(self) -> Floats:
        """Covariance Sigma_c of clean outputs at fixed images, (classes, classes)."""
        return self.clean.intra

    @property
    def sigma_p(self) -> Floats:
        """Covariance Sigma_p of perturbation effects, (classes, classes)."""
        return self.noise.intra

    @property
    def zeta_c(self) -> float:
        """What members share of clean outputs at fixed images."""
        return self.clean.zeta

    @property
    def zeta_c_images(self) -> float:
        """What members share of clean outputs over all images."""
        return self.images.zeta

    @property
    def zeta_p(self) -> float:
        """What members share of perturbation effects."""
        return self.noise.zeta

    @property
    def both(self) -> MemberCovariance:
        """The blocks of the joint covariance of all members' logits y: those of the two parts added up (App. C)."""
        return MemberCovariance(self.clean.intra + self.noise.intra, self.clean.inter + self.noise.inter)


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
    images, noises, members, classes = logits.noisy.shape
    y_c = clean_outputs(logits, clean_part)
    spread = y_c - y_c.mean(axis=1, keepdims=True)
    intra, inter, cross = (np.zeros((classes, classes)) for _ in range(3))
    for deviation, effect in zip(spread, perturbation_effects(logits, clean_part), strict=True):
        own, shared = _moments(effect)
        intra += own
        inter += shared
        cross += deviation.T @ effect.mean(axis=0) / members
    # Centred by their own mean, N effects have N - 1 degrees of freedom; about 0 they have N.
    degrees = images * (noises - 1 if clean_part == "mean" else noises)
    return VarianceModel(
        clean_part=clean_part,
        clean=MemberCovariance(*(moment / images for moment in _moments(spread))),
        images=MemberCovariance(*(moment / images for moment in _moments(y_c - y_c.mean(axis=(0, 1))))),
        noise=MemberCovariance(intra / degrees, inter / degrees),
        clean_noise=cross / images,
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
