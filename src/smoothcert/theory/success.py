"""Success probability p_1(k): the chance that the leading class wins a vote of k members (Eq. 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smoothcert.theory.member_covariance import Floats
from smoothcert.theory.member_logits import MemberLogits
from smoothcert.theory.orthant import orthant_probability
from smoothcert.theory.variance import VarianceModel, clean_outputs, perturbation_effects, variance_ratio
from smoothcert.theory.windows import window_means

_MOST_RIVALS = 63  # the classes nearest to the leading one; those further off never win in practice


@dataclass(frozen=True, eq=False)
class MarginLaw:
    """Margins of the leading class over its rivals at one image: mean, and both covariances of one member.

    Args:
        leading: class with the largest mean logit.
        mean: mean margins c_1 - c_i, (rivals,).
        clean: covariance of clean margins over the K members, (rivals, rivals).
        noise: covariance of margins under noise, (rivals, rivals).
    """

    leading: int
    mean: Floats
    clean: Floats
    noise: Floats

    def covariance(self, k: int, zeta_c: float, zeta_p: float) -> Floats:
        """Return the covariance of the margins of an ensemble of k members."""
        return np.asarray(
            variance_ratio(k, zeta_c) * self.clean + variance_ratio(k, zeta_p) * self.noise, dtype=np.float64
        )


def margin_laws(logits: MemberLogits, clean_part: str) -> Iterator[MarginLaw]:
    """Yield the margin law of one image after another.

    Args:
        logits: of all members under shared noise.
        clean_part: a name in `CLEAN_PARTS`.
    """
    outputs, effects = clean_outputs(logits, clean_part), perturbation_effects(logits, clean_part)
    for y_c, y_p in zip(outputs, effects, strict=True):
        order = np.argsort(-y_c.mean(axis=0), kind="stable")
        leading, rivals = int(order[0]), order[1 : 1 + _MOST_RIVALS]
        margin_c = y_c[:, [leading]] - y_c[:, rivals]  # (members, rivals)
        margin_p = (y_p[:, :, [leading]] - y_p[:, :, rivals]).reshape(-1, len(rivals))
        spread = margin_c - margin_c.mean(axis=0)
        degrees = len(y_p) - 1 if clean_part == "mean" else len(y_p)
        yield MarginLaw(
            leading=leading,
            mean=margin_c.mean(axis=0),
            clean=spread.T @ spread / len(spread),
            noise=margin_p.T @ margin_p / (degrees * y_p.shape[1]),
        )


def chebyshev_success(mean: ArrayLike, variance: ArrayLike) -> float:
    """Return 1 - sum_i variance_i / mean_i^2, cut at 0 (Eq. 5): a bound for any law of the margins.

    0, that is no statement, if a mean margin is not positive.

    Args:
        mean: mean margins of the leading class over each other class.
        variance: their variances.
    """
    margin, spread = np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    if not (margin > 0).all():
        return 0.0
    with np.errstate(over="ignore", divide="ignore"):
        return float(max(1 - (spread / margin**2).sum(), 0.0))


@dataclass(frozen=True, eq=False)
class Success:
    """Success probability at every image (rows) for every ensemble size (columns), by model and as observed.

    Args:
        leading: leading class, (images,).
        gaussian: under Gaussian margins, (images, sizes).
        chebyshev: lower bound from means and variances alone, (images, sizes).
        observed: share of noises and windows of k members in which the leading class won, (images, sizes).
    """

    leading: NDArray[np.int64]
    gaussian: Floats
    chebyshev: Floats
    observed: Floats


def success_probabilities(logits: MemberLogits, model: VarianceModel, sizes: Sequence[int]) -> Success:
    """Return modelled and observed success probabilities of soft voting with equal weights.

    Args:
        logits: of all members under shared noise.
        model: fitted to the same logits.
        sizes: numbers of members k, 1 <= k <= K.
    """
    shape = (len(logits.noisy), len(sizes))
    leading = np.empty(len(logits.noisy), dtype=np.int64)
    gaussian, chebyshev, observed = np.empty(shape), np.empty(shape), np.empty(shape)
    for image, law in enumerate(margin_laws(logits, model.clean_part)):
        leading[image] = law.leading
        for column, k in enumerate(sizes):
            covariance = law.covariance(k, model.zeta_c, model.zeta_p)
            gaussian[image, column] = orthant_probability(law.mean, covariance)
            chebyshev[image, column] = chebyshev_success(law.mean, np.diag(covariance))
            winners = window_means(logits.noisy[image], k, 1).argmax(axis=2)
            observed[image, column] = (winners == law.leading).mean()
    return Success(leading, gaussian, chebyshev, observed)
