"""SWEEN: the mixture of members' probabilities that fits noisy hold-out images best (Liu et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.arguments import is_whole
from smoothcert.ensembles.weights.member_outputs import check_member_logits
from smoothcert.ensembles.weights.simplex import minimise_quadratic
from smoothcert.errors import InvalidArgumentError
from smoothcert.registry import Table

Matrix = NDArray[np.float64]

GAP = 1e-9
"""Largest distance to the smallest possible loss at which the convex solver stops, in nats."""

# From the members' probabilities of the true class, (rows, k), rows scaled, and the rows per epoch, to weights.
SweenSolver = Callable[[Matrix, int], Matrix]
SWEEN_SOLVERS: Table[SweenSolver] = Table("SWEEN solver")


@dataclass(frozen=True)
class SweenFit:
    """Weights for `VotingEnsemble(members, "softmax", weights)`, with what they were chosen by.

    Args:
        weights: one per member, >= 0, with sum 1.
        loss: mean of -log of the mixture's probability of the true class, in nats.
        gap: how far above the smallest possible loss that is, at most.
        uniform_loss: the loss of equal weights.
        best_member_loss: the smallest loss of a member alone.
    """

    weights: tuple[float, ...]
    loss: float
    gap: float
    uniform_loss: float
    best_member_loss: float


def fit_sween(
    logits: torch.Tensor, labels: torch.Tensor, *, solver: str = "newton", draws: int = 1
) -> SweenFit:
    """Choose weights that minimise the mixture's cross entropy on noisy images.

    The loss is convex in the weights, so the default solves to optimality; "sgd" repeats the paper's descent, which
    stops somewhere near it.

    Args:
        logits: (rows, members, classes), as `member_outputs` returns them; of hold-out images.
        labels: (rows,).
        solver: a name in `SWEEN_SOLVERS`.
        draws: noisy copies of each image among the rows; an epoch of "sgd" sees one of each.
    """
    solve = SWEEN_SOLVERS[solver]
    check_member_logits(logits, labels)
    if not is_whole(draws, 1) or len(labels) % draws:
        raise InvalidArgumentError(f"draws must divide the {len(labels)} rows, got {draws!r}")
    chosen = (
        logits.double().log_softmax(dim=2).gather(2, labels.reshape(-1, 1, 1).expand(-1, logits.shape[1], 1))
    )
    logs: Matrix = chosen.squeeze(2).numpy()
    # Each row relative to its best member: the same minimum, and no probability is rounded to zero.
    best = logs.max(axis=1, keepdims=True)
    scaled, offset = np.exp(logs - best), -float(best.mean())
    weights = solve(scaled, len(labels) // draws)
    members = scaled.shape[1]
    return SweenFit(
        weights=tuple(weights.tolist()),
        loss=offset + _loss(scaled, weights),
        gap=_gap(scaled, weights),
        uniform_loss=offset + _loss(scaled, np.full(members, 1 / members)),
        best_member_loss=float(-logs.mean(axis=0).max()),
    )


@SWEEN_SOLVERS.register("newton")
def _newton(scaled: Matrix, rows: int) -> Matrix:
    """Minimise by Newton steps, each the exact minimum over the simplex of the loss's second-order model."""
    count = scaled.shape[1]
    weights = np.full(count, 1 / count)
    for _ in range(500):
        ratios = scaled / (scaled @ weights)[:, None]
        pull = ratios.mean(axis=0)
        if np.log(pull.max()) <= GAP:
            break
        # The loss is -mean log: gradient -pull, Hessian R'R/n, and Hessian times weights is pull again.
        aim = minimise_quadratic(ratios.T @ ratios / len(scaled), -2 * pull)
        now, step, slope = _loss(scaled, weights), 1.0, float(pull @ (aim - weights))
        while step > 1e-6 and _loss(scaled, weights + step * (aim - weights)) > now - 1e-4 * step * slope:
            step /= 2
        # Where rounding hides the descent, a step of expectation-maximisation never leads up.
        weights = weights + step * (aim - weights) if step > 1e-6 else weights * pull
        weights = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
    return weights


@SWEEN_SOLVERS.register("sgd")
def _sgd(scaled: Matrix, rows: int) -> Matrix:
    """Descend as the paper does: weights softmax(w) from w = 0, 150 epochs, batches of 64."""
    rng = np.random.default_rng(0)  # the order of images; of no consequence for any certificate's soundness
    w, velocity, rate = np.zeros(scaled.shape[1]), np.zeros(scaled.shape[1]), 0.01
    for epoch in range(150):
        rate = 0.01 * 0.1 ** ((epoch >= 60) + (epoch >= 90))
        draw = scaled[(epoch * rows) % len(scaled) :][:rows]
        for batch in np.array_split(draw[rng.permutation(rows)], -(-rows // 64)):
            weights = _softmax(w)
            pull = (batch / (batch @ weights)[:, None]).mean(axis=0)
            gradient = weights * (1 - pull) + 5e-4 * w
            velocity = 0.9 * velocity + gradient
            w = w - rate * velocity
    return _softmax(w)


def _softmax(w: Matrix) -> Matrix:
    raised = np.exp(w - w.max())
    shares: Matrix = raised / raised.sum()
    return shares


def _loss(scaled: Matrix, weights: Matrix) -> float:
    with np.errstate(divide="ignore"):
        return -float(np.log(np.maximum(scaled @ weights, 0.0)).mean())


def _gap(scaled: Matrix, weights: Matrix) -> float:
    """Bound the distance to the smallest loss: by Jensen, no weights gain more than the log of the largest pull."""
    pull = (scaled / (scaled @ weights)[:, None]).mean(axis=0)
    return max(0.0, float(np.log(pull.max())))
