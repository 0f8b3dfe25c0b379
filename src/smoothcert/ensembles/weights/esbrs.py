"""EsbRS: the fixed weights that make the mixture's margins vary least (Liu, Hoang, Nguyen, Weng)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from smoothcert.data import Dataset
from smoothcert.ensembles.weights.margin_bounds import failure_bound
from smoothcert.ensembles.weights.margins import MarginMoments, Perturbation, margin_moments
from smoothcert.ensembles.weights.member_outputs import check_images
from smoothcert.ensembles.weights.simplex import minimise_quadratic
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw

FLOOR = 0.1
"""Smallest mean margin that a variance is divided by: the paper's factor means nothing at or below zero."""


@dataclass(frozen=True)
class EsbrsFit:
    """Weights for `VotingEnsemble(members, "softmax", weights)`, with what they were chosen by.

    Args:
        weights: one per member, >= 0, with sum 1.
        objective: mean over images of sum_c a_c Var(margin_c) at these weights, with sum_c a_c = 1 at every image.
        uniform_objective: the same at equal weights.
        best_member_objective: the smallest of a member alone.
        uniform_bound: the theory's bound on the failures of the mixture with equal weights.
        best_member_bound: the smallest such bound of a member alone; below the other, mixing is expected to do harm.
    """

    weights: tuple[float, ...]
    objective: float
    uniform_objective: float
    best_member_objective: float
    uniform_bound: float
    best_member_bound: float


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

    Every image counts alike. The paper's a_c are meant for one image, whose weights do not depend on their scale; added
    up over images as they are, those that some member gets wrong would count a hundred times as much as the others.

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
        uniform_bound=failure_bound(moments, equal),
        best_member_bound=min(failure_bound(moments, alone) for alone in np.eye(len(matrix))),
    )


def class_factors(moments: MarginMoments, *, floor: float = FLOOR) -> NDArray[np.float64]:
    """Return a_c = max(smallest mean margin of a member, floor)^-2, scaled to sum 1 at every image, (images, classes).

    0 for the class itself.

    Args:
        moments: of the members' margins.
        floor: smallest mean margin that counts as it is.
    """
    if not 0 < floor < float("inf"):
        raise InvalidArgumentError(f"floor must be positive and finite, got {floor!r}")
    factors: NDArray[np.float64] = np.maximum(moments.mean.min(axis=1), floor) ** -2
    factors[np.arange(len(factors)), moments.classes] = 0.0
    total = factors.sum(axis=1, keepdims=True)
    return factors / np.where(total > 0, total, 1.0)  # a single class has no other
