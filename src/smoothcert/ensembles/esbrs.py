"""EsbRS: the fixed weights that make the mixture's margins vary least (Liu, Hoang, Nguyen, Weng)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from smoothcert.data import Dataset
from smoothcert.ensembles.margins import MarginMoments, Perturbation, margin_moments
from smoothcert.ensembles.outputs import check_images
from smoothcert.ensembles.simplex import minimise_quadratic
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw

FLOOR = 0.1
"""Smallest mean margin that a variance is divided by: the paper's factor means nothing at or below zero."""


@dataclass(frozen=True)
class EsbrsFit:
    """Weights for `VotingEnsemble(members, "softmax", weights)`, with what they were chosen by.

    Args:
        weights: one per member, >= 0, with sum 1.
        objective: mean over images of sum_c a_c Var(margin_c) at these weights.
        uniform_objective: the same at equal weights.
        best_member_objective: the smallest of a member alone.
    """

    weights: tuple[float, ...]
    objective: float
    uniform_objective: float
    best_member_objective: float


def fit_esbrs(
    members: Sequence[nn.Module],
    dataset: Dataset,
    noise: NoiseLaw,
    *,
    seed: int,
    images: int | None = 200,
    how: Perturbation | None = None,
    floor: float = FLOOR,
    on_progress: Callable[[int, int], None] | None = None,
) -> EsbrsFit:
    """Choose fixed weights on hold-out images with their true labels; sound for every other image.

    Not the paper's form, which chooses weights anew at every clean image: see `PerInputEsbrs`.

    Args:
        members: classifiers in eval mode with the same classes.
        dataset: a hold-out, not the images to certify.
        noise: the law of the noise.
        seed: of noise and perturbations.
        images: use the first so many; None for all.
        how: numbers of copies and size of the perturbations; the paper's by default.
        floor: smallest mean margin that counts as it is.
        on_progress: told how many of all rounds are done.
    """
    count = check_images(dataset, images)
    labels = torch.tensor(dataset.labels[:count])
    moments = margin_moments(
        members, dataset.batch(range(count)), labels, noise, seed=seed, how=how, on_progress=on_progress
    )
    return solve_esbrs(moments, floor=floor)


def solve_esbrs(moments: MarginMoments, *, floor: float = FLOOR) -> EsbrsFit:
    """Minimise w' M w over weights of sum 1, M the mean over images of sum_c a_c C_c: convex for any members.

    Args:
        moments: of the members' margins.
        floor: smallest mean margin that counts as it is.
    """
    matrix = np.einsum("nc,nckl->kl", class_factors(moments, floor=floor), moments.covariance)
    matrix = matrix / len(moments.classes)
    weights = minimise_quadratic(matrix)
    equal = np.full(len(matrix), 1 / len(matrix))
    return EsbrsFit(
        weights=tuple(weights.tolist()),
        objective=float(weights @ matrix @ weights),
        uniform_objective=float(equal @ matrix @ equal),
        best_member_objective=float(np.diag(matrix).min()),
    )


def class_factors(moments: MarginMoments, *, floor: float = FLOOR) -> NDArray[np.float64]:
    """Return a_c = max(smallest mean margin of a member, floor)^-2, (images, classes); 0 for the class itself."""
    if not 0 < floor < float("inf"):
        raise InvalidArgumentError(f"floor must be positive and finite, got {floor!r}")
    factors: NDArray[np.float64] = np.maximum(moments.mean.min(axis=1), floor) ** -2
    factors[np.arange(len(factors)), moments.classes] = 0.0
    return factors


def success_bound(variance: ArrayLike, covariance: ArrayLike, margin: ArrayLike, members: int) -> float:
    """Return the theory's lower bound on the probability that a mixture of equal weights answers the class.

    1 - sum_c (beta_c + (alpha_c - beta_c)/k) / e_c^2, by Chebyshev's inequality; may be below 0.

    Args:
        variance: alpha_c, the largest variance of a member's margin, per other class.
        covariance: beta_c, the largest covariance of two members' margins, per other class.
        margin: e_c > 0, the smallest mean margin of a member, per other class.
        members: k.
    """
    alpha, beta, e = _terms(variance, covariance, margin)
    if isinstance(members, bool) or not isinstance(members, int) or members < 1:
        raise InvalidArgumentError(f"members must be a positive integer, got {members!r}")
    return float(1 - ((beta + (alpha - beta) / members) / e**2).sum())


def mixing_helps(variance: ArrayLike, covariance: ArrayLike, margin: ArrayLike) -> bool:
    """Return whether `success_bound` grows with the number of members: where alpha_c exceeds beta_c, weighted.

    Arguments as there. Where it is false the theory expects an ensemble to do harm.
    """
    alpha, beta, e = _terms(variance, covariance, margin)
    return bool(((alpha - beta) / e**2).sum() > 0)


def _terms(variance: ArrayLike, covariance: ArrayLike, margin: ArrayLike) -> list[NDArray[np.float64]]:
    terms = [np.atleast_1d(np.asarray(term, dtype=np.float64)) for term in (variance, covariance, margin)]
    if len({term.shape for term in terms}) != 1:
        shapes = [term.shape for term in terms]
        raise InvalidArgumentError(f"variance, covariance and margin must be of one shape, got {shapes}")
    if not all(np.isfinite(term).all() for term in terms) or (terms[2] <= 0).any():
        raise InvalidArgumentError(
            f"variance, covariance and margin must be finite and margin above 0, got margin {margin!r}; the theory "
            "says nothing about a class that a member prefers"
        )
    return terms
