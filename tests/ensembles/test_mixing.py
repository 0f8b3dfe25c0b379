"""The theory's bound on a mixture's failures against sums by hand, and its forecast against drawn votes."""

import numpy as np
import pytest

from smoothcert.ensembles import MarginMoments, failure_bound
from smoothcert.errors import InvalidArgumentError


def by_hand(moments, weights):
    """`failure_bound` with one loop per sum."""
    total = 0.0
    for image, y in enumerate(moments.classes):
        sum_c = 0.0
        for c in range(moments.mean.shape[2]):
            if c == y:
                continue
            margin = sum(w * moments.mean[image, k, c] for k, w in enumerate(weights))
            spread = sum(
                v * w * moments.covariance[image, c, i, j]
                for i, v in enumerate(weights)
                for j, w in enumerate(weights)
            )
            sum_c += spread / margin**2 if margin > 0 else np.inf
        total += min(sum_c, 1.0)
    return total / len(moments.classes)


def test_failure_bound_against_sums_written_out():
    rng = np.random.default_rng(4)
    z = rng.normal(0.5, 0.3, (200, 6, 3, 4))  # samples, images, members, classes
    classes = rng.integers(0, 4, 6)
    z[:, np.arange(6), :, classes] = 0
    centred = z - z.mean(axis=0)
    moments = MarginMoments(z.mean(axis=0), np.einsum("snkc,snlc->nckl", centred, centred) / 200, classes)
    moments.mean[5, :, (classes[5] + 1) % 4] = -0.1  # a class that all members prefer: nothing is said there
    for weights in ([1 / 3] * 3, [1, 0, 0], [0.2, 0.5, 0.3]):
        assert failure_bound(moments, weights) == pytest.approx(by_hand(moments, weights), rel=1e-12)
    assert failure_bound(moments, [2, 2, 2]) == pytest.approx(failure_bound(moments, [1, 1, 1]), rel=1e-12)
    for weights in ([1, 1], [-1, 1, 1], [0, 0, 0], [np.nan, 1, 1]):
        with pytest.raises(InvalidArgumentError, match="weights must be 3 numbers"):
            failure_bound(moments, weights)


def two_members(spread, shared, margins):
    """Moments of two members and two classes at one image."""
    covariance = np.zeros((1, 2, 2, 2))
    covariance[0, 1] = [[spread[0], shared], [shared, spread[1]]]
    mean = np.zeros((1, 2, 2))
    mean[0, :, 1] = margins
    return MarginMoments(mean, covariance, np.array([0]))


def test_the_theory_tells_mixing_that_helps_from_mixing_that_hurts():
    alike = two_members((0.02, 0.02), 0.005, (0.5, 0.5))
    assert failure_bound(alike, [1, 1]) < failure_bound(alike, [1, 0])
    worse = two_members((0.02, 0.2), 0.005, (0.5, 0.2))  # a good member and a wavering one
    assert failure_bound(worse, [1, 1]) > failure_bound(worse, [1, 0])
    # And it is right: votes drawn from Gaussian margins fail in that order, and never more often than bounded.
    rng = np.random.default_rng(5)
    for moments in (alike, worse):
        drawn = rng.multivariate_normal(moments.mean[0, :, 1], moments.covariance[0, 1], 200_000)
        failed = {w: float((drawn @ w / sum(w) <= 0).mean()) for w in ((1, 0), (1, 1))}
        for w, share in failed.items():
            assert share <= failure_bound(moments, w)
        assert (failed[1, 1] < failed[1, 0]) == (
            failure_bound(moments, [1, 1]) < failure_bound(moments, [1, 0])
        )
