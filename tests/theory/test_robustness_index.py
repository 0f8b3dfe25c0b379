"""The gamma-robustness index is certified accuracy, ACR and volume, each known otherwise."""

import math

import numpy as np
import pytest

from smoothcert.certificates import Results
from smoothcert.errors import InvalidArgumentError
from smoothcert.theory import length, log_ball_volume, log_mean_volume, reaches, robustness_index


def results(radius, correct):
    n = len(radius)
    right = np.asarray(correct, dtype=bool)
    return Results(np.arange(n), np.zeros(n, dtype=np.int64), np.where(right, 0, 1), np.array(radius, float))


SOME = results([0.5, 1.0, 2.0, 3.0], [True, True, True, False])


def test_accuracy_and_acr_are_those_of_results():
    for radius in (0.0, 0.5, 0.6, 2.0, 3.0):
        assert robustness_index(SOME, reaches(radius)) == SOME.certified_accuracy(radius)[0]
    assert robustness_index(SOME, length) == SOME.average_radius() == 3.5 / 4
    assert robustness_index(SOME, lambda r: r**2) == 5.25 / 4


def test_volumes_of_school():
    assert np.exp(log_ball_volume([0.5, 2.0], 1)) == pytest.approx([1.0, 4.0])
    assert np.exp(log_ball_volume(3.0, 2)) == pytest.approx(9 * math.pi)
    assert np.exp(log_ball_volume(2.0, 3)) == pytest.approx(4 / 3 * math.pi * 8)
    assert log_ball_volume(0.0, 3) == -np.inf
    assert np.exp(log_mean_volume(SOME, 2)) == pytest.approx(5.25 * math.pi / 4)


def test_volumes_of_images_stay_finite():
    """V_d = V_(d-2) 2 pi r^2 / d, run up to the dimensions of CIFAR-10 and ImageNet."""
    for dimension in (784, 3_072, 150_528):
        even = np.arange(2, dimension + 1, 2)
        expected = np.log(2 * math.pi * 0.25 / even).sum()
        assert log_ball_volume(0.5, dimension) == pytest.approx(expected, rel=1e-12)
    # Only the largest ball is left in the mean of volumes.
    assert log_mean_volume(SOME, 3_072) == pytest.approx(log_ball_volume(2.0, 3_072) - math.log(4), rel=1e-12)


def test_nothing_certified_and_nothing_given():
    assert log_mean_volume(results([1.0, 2.0], [False, False]), 3) == -np.inf
    assert log_mean_volume(results([0.0, 2.0], [True, False]), 3) == -np.inf
    with pytest.raises(InvalidArgumentError, match="at least one image"):
        robustness_index(results([], []), length)
    with pytest.raises(InvalidArgumentError, match="dimension >= 1"):
        log_ball_volume(1.0, 0)
