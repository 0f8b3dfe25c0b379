"""Metrics against sums written out by hand."""

import numpy as np
import pytest
from scipy.stats import beta

from smoothcert.certificates import Results
from smoothcert.radii import radius_grid

RESULTS = Results(
    index=np.arange(6),
    label=np.array([0, 1, 2, 0, 1, 2]),
    predicted=np.array([0, 1, -1, 1, 1, 2]),
    radius=np.array([0.5, 0.25, 0.0, 0.9, 0.0, 1.0]),
)


def test_certified_accuracy_counts_correct_images_with_enough_radius():
    found = RESULTS.certified_accuracy([0, 0.25, 0.26, 0.5, 0.9, 1.0, 1.01])
    np.testing.assert_allclose(found, np.array([4, 3, 2, 2, 1, 1, 0]) / 6)


def test_average_radius_counts_wrong_and_abstained_as_zero():
    assert RESULTS.average_radius() == pytest.approx((0.5 + 0.25 + 1.0) / 6)
    assert RESULTS.abstained() == pytest.approx(1 / 6)
    assert RESULTS.correct.tolist() == [True, True, False, False, True, True]


def test_interval_is_clopper_pearson_over_images():
    low, high = RESULTS.certified_accuracy_interval([0.25, 2.0], 0.95)
    assert low[0] == pytest.approx(beta.ppf(0.025, 3, 4))
    assert high[0] == pytest.approx(beta.ppf(0.975, 4, 3))
    assert (low[1], high[1]) == (0.0, pytest.approx(beta.ppf(0.975, 1, 6)))


@pytest.mark.parametrize("largest, last", [(0.0, 0.0), (0.2, 0.25), (0.25, 0.25), (0.26, 0.5), (1.91, 2.0)])
def test_grid_ends_where_no_radius_is_larger(largest, last):
    grid = radius_grid(largest)
    assert grid[0] == 0
    assert grid[-1] == last
    assert np.allclose(np.diff(grid), 0.25)
