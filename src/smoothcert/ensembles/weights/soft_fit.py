"""Weighted soft voting: the sum of logits that fits noisy hold-out images best (Horvath et al. 2022, App. H.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.ensembles.weights.member_outputs import check_member_logits

Matrix = NDArray[np.float64]

_STEPS = 100
_FLAT = 1e-9  # largest slope of the loss, in nats per unit of weight, at which the minimum is reached


@dataclass(frozen=True)
class SoftFit:
    """Weights for `VotingEnsemble(members, "soft", weights)`, with what they were chosen by.

    Args:
        weights: one per member, of any sign and size; their size is the temperature of the softmax, which no vote sees.
        loss: mean cross entropy of softmax(sum of weight times logits), in nats.
        slope: largest slope of the loss there; not near 0 only where a sum of logits gets every image right, so that
            larger weights are always better.
        uniform_loss: the loss of the members' mean.
        best_member_loss: the smallest loss of a member alone.
    """

    weights: tuple[float, ...]
    loss: float
    slope: float
    uniform_loss: float
    best_member_loss: float


def fit_soft(logits: torch.Tensor, labels: torch.Tensor) -> SoftFit:
    """Choose weights that minimise the cross entropy of the softmax of the weighted sum of logits.

    The loss is convex in the weights and solved by Newton steps; weights are not constrained, as the paper's are not.

    Args:
        logits: (rows, members, classes), as `member_outputs` returns them; of hold-out images.
        labels: (rows,).
    """
    check_member_logits(logits, labels)
    values: Matrix = logits.double().numpy()
    # Relative to the true class: the loss is the log of the sum of exponentials of these.
    rivals = values - np.take_along_axis(values, labels.numpy().reshape(-1, 1, 1), axis=2)
    members = rivals.shape[1]
    weights = _minimise(rivals, np.full(members, 1 / members))
    return SoftFit(
        weights=tuple(weights.tolist()),
        loss=_loss(rivals, weights),
        slope=float(np.abs(_slopes(rivals, weights)[0]).max()),
        uniform_loss=_loss(rivals, np.full(members, 1 / members)),
        best_member_loss=min(_loss(rivals, row) for row in np.eye(members)),
    )


def _minimise(rivals: Matrix, weights: Matrix) -> Matrix:
    for _ in range(_STEPS):
        slope, curvature = _slopes(rivals, weights)
        if np.abs(slope).max() <= _FLAT:
            break
        # Members that always agree leave the curvature singular: then the shortest step is taken.
        step, now, length = -np.linalg.lstsq(curvature, slope, rcond=1e-12)[0], _loss(rivals, weights), 1.0
        while length > 1e-8 and _loss(rivals, weights + length * step) > now + 1e-4 * length * float(
            slope @ step
        ):
            length /= 2
        if length <= 1e-8:  # rounding hides what descent is left
            break
        weights = weights + length * step
    return weights


def _loss(rivals: Matrix, weights: Matrix) -> float:
    scores = np.einsum("rkc,k->rc", rivals, weights)
    most = scores.max(axis=1)
    return float((most + np.log(np.exp(scores - most[:, None]).sum(axis=1))).mean())


def _slopes(rivals: Matrix, weights: Matrix) -> tuple[Matrix, Matrix]:
    """Return gradient and Hessian: mean and covariance of the members' logits under the mixture's probabilities."""
    scores = np.einsum("rkc,k->rc", rivals, weights)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    means = np.einsum("rkc,rc->rk", rivals, shares)
    squares = np.einsum("rkc,rlc,rc->kl", rivals, rivals, shares, optimize=True)
    return means.mean(axis=0), (squares - means.T @ means) / len(rivals)
