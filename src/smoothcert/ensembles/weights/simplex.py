"""Convex quadratics over the simplex, minimised exactly by an active-set method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import InvalidArgumentError

_RIDGE = 1e-12  # of the largest variance: makes the minimum unique, and moves its value by less than that
_TOLERANCE = 1e-12  # of the largest entry, in the conditions of optimality


def minimise_quadratic(
    matrix: NDArray[np.float64], linear: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the weights w >= 0 with sum 1 that minimise w' Q w / 2 + c' w.

    Not for quadratics that are not convex: those are refused. Weights are added one at a time, the steepest first;
    on each set of positive weights the minimum is the solution of a linear system.

    Args:
        matrix: Q, (k, k), symmetric and positive semidefinite.
        linear: c, (k,); zero by default.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    count = len(matrix) if matrix.ndim == 2 else 0
    c = np.zeros(count) if linear is None else np.asarray(linear, dtype=np.float64)
    if count == 0 or matrix.shape != (count, count) or c.shape != (count,):
        raise InvalidArgumentError(f"matrix must be (k, k) and linear (k,), got {matrix.shape} and {c.shape}")
    if not (np.isfinite(matrix).all() and np.isfinite(c).all()):
        raise InvalidArgumentError("matrix and linear must be finite, got NaN or infinity")
    size = max(float(np.abs(matrix).max()), float(np.abs(c).max()), np.finfo(np.float64).tiny)
    smallest = float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])
    if smallest < -1e-8 * size or float(np.abs(matrix - matrix.T).max()) > 1e-8 * size:
        raise InvalidArgumentError(
            f"matrix must be symmetric and positive semidefinite, got smallest eigenvalue {smallest:.3g}"
        )
    # Scaled, so that covariances of any size are solved alike.
    q = (matrix + matrix.T) / (2 * size) + (_RIDGE + max(0.0, -2 * smallest / size)) * np.eye(count)
    return _active_set(q, c / size)


def _active_set(q: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    count = len(q)
    equal = np.full(count, 1 / count)
    if np.ptp(q @ equal + c) <= _TOLERANCE:  # nothing tells the weights apart
        return equal
    first = int((np.diag(q) / 2 + c).argmin())
    weights: NDArray[np.float64] = np.eye(count)[first]
    free = weights > 0
    for _ in range(50 * count):
        target = _on_face(q, c, free)
        if (target[free] > 0).all():
            weights = target
            slope = q @ weights + c
            steepest = int(np.where(free, np.inf, slope).argmin())
            if free.all() or slope[steepest] >= weights @ slope - _TOLERANCE:
                return weights
            free[steepest] = True
            continue
        # Go towards the target until the first weight reaches zero, and leave that one out. A weight that was just
        # let in and would have to fall at once is out by rounding alone.
        falling = free & (target <= 0)
        steps = np.where(falling, weights / np.maximum(weights - target, np.finfo(np.float64).tiny), np.inf)
        weights = weights + min(1.0, float(steps.min())) * (target - weights)
        free[int(steps.argmin())] = False
        weights = np.where(free, np.maximum(weights, 0.0), 0.0)
        weights /= weights.sum()
    return weights  # the best so far; within rounding of the minimum, where steps no longer lead down


def _on_face(q: NDArray[np.float64], c: NDArray[np.float64], free: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the minimum over weights of sum 1, of any sign, that are zero where not `free`."""
    size = int(free.sum())
    system = np.ones((size + 1, size + 1))
    system[:size, :size], system[size, size] = q[np.ix_(free, free)], 0.0
    solution = np.zeros(len(q))
    solution[free] = np.linalg.lstsq(system, np.append(-c[free], 1.0), rcond=None)[0][:size]
    return solution
