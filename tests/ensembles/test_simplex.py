"""The quadratic solver against a brute grid, the conditions of optimality, and closed forms."""

import numpy as np
import pytest

from smoothcert.ensembles import minimise_quadratic
from smoothcert.errors import InvalidArgumentError


def grid(members, steps):
    """Weights of sum 1 in steps of 1/steps."""
    if members == 2:
        first = np.arange(steps + 1)
        return np.stack([first, steps - first], axis=1) / steps
    first, second = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    kept = first + second <= steps
    first, second = first[kept], second[kept]
    return np.stack([first, second, steps - first - second], axis=1) / steps


def random_problem(rng, members, rank):
    root = rng.normal(size=(members, rank))
    return root @ root.T, rng.normal(size=members) * rng.integers(0, 2)


@pytest.mark.parametrize("members, steps", [(2, 20_000), (3, 1_000)])
def test_no_point_of_a_grid_is_better_and_one_is_near(members, steps):
    rng, points = np.random.default_rng(members), grid(members, steps)
    for _ in range(20):
        matrix, linear = random_problem(rng, members, rank=rng.integers(1, members + 1))
        found = minimise_quadratic(matrix, linear)
        value = found @ matrix @ found / 2 + linear @ found
        values = np.einsum("pi,ij,pj->p", points, matrix, points) / 2 + points @ linear
        assert value <= values.min() + 1e-10
        nearest = ((points - found) ** 2).sum(axis=1).argmin()  # a grid point near it is nearly as good
        assert (
            values[nearest] - value < 20 / steps**2 * np.abs(matrix).max() + 2 / steps * np.abs(linear).max()
        )


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_conditions_of_optimality_hold_for_any_number_of_members(scale):
    rng = np.random.default_rng(7)
    for members in (1, 2, 5, 20, 50):
        for rank in (1, members):
            matrix, linear = random_problem(rng, members, rank)
            weights = minimise_quadratic(scale * matrix, scale * linear)
            slope = matrix @ weights + linear
            assert (weights >= 0).all()
            assert weights.sum() == pytest.approx(1, abs=1e-12)
            assert (slope - weights @ slope).min() > -1e-9 * np.abs(matrix).max()


def test_independent_members_are_weighted_by_the_inverse_of_their_variance():
    np.testing.assert_allclose(minimise_quadratic(np.diag([1.0, 2.0, 4.0])), [4 / 7, 2 / 7, 1 / 7], rtol=1e-9)
    assert minimise_quadratic(np.zeros((1, 1))).tolist() == [1.0]


@pytest.mark.parametrize(
    "matrix, linear, message",
    [
        (np.ones((2, 3)), None, r"matrix must be \(k, k\)"),
        (np.ones(3), None, r"matrix must be \(k, k\)"),
        (np.zeros((0, 0)), None, r"matrix must be \(k, k\)"),
        (np.eye(2), np.ones(3), r"linear \(k,\), got \(2, 2\) and \(3,\)"),
        (np.diag([1.0, -1.0]), None, "positive semidefinite, got smallest eigenvalue -1"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), None, "symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), None, "finite"),
    ],
)
def test_other_problems_are_refused(matrix, linear, message):
    with pytest.raises(InvalidArgumentError, match=message):
        minimise_quadratic(matrix, linear)
