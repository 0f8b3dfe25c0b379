"""Orthant probabilities against closed forms, and success probabilities against simulated members."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from smoothcert.errors import InvalidArgumentError
from smoothcert.theory import (
    MemberCovariance,
    MemberLogits,
    VarianceModel,
    chebyshev_success,
    fit_variance_model,
    margin_laws,
    orthant_probability,
    success_probabilities,
)


def equal_correlation(rho, size):
    return np.full((size, size), rho) + (1 - rho) * np.eye(size)


def test_one_and_independent_coordinates_are_exact():
    assert orthant_probability([0.7], [[4.0]]) == pytest.approx(ndtr(0.35), abs=1e-15)
    mean, spread = np.array([0.3, -0.2, 1.1]), np.array([1.0, 2.0, 0.5])
    product = np.prod(ndtr(mean / spread))
    assert orthant_probability(mean, np.diag(spread**2)) == pytest.approx(product, abs=1e-14)


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.6, 0.99])
def test_two_and_three_coordinates_by_arcsine(rho):
    two = 1 / 4 + math.asin(rho) / (2 * math.pi)
    assert orthant_probability([0, 0], equal_correlation(rho, 2)) == pytest.approx(two, abs=3e-4)
    if rho >= -0.3:
        three = 1 / 8 + 3 * math.asin(rho) / (4 * math.pi)
        assert orthant_probability([0] * 3, equal_correlation(rho, 3)) == pytest.approx(three, abs=3e-4)


@pytest.mark.parametrize("size", [4, 9, 20])
def test_the_largest_of_equal_classes_wins_one_time_in_all(size):
    """Margins over `size` equal rivals have correlation 1/2: the chance is 1 / (size + 1)."""
    found = orthant_probability(np.zeros(size), equal_correlation(0.5, size))
    assert found == pytest.approx(1 / (size + 1), abs=1e-3)


def test_shifted_equal_rivals_by_one_dimensional_integral():
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    exact = (
        weights * ndtr(nodes + 1.7) ** 9
    ).sum() / weights.sum()  # leading logit N(1.7, 1), nine of N(0, 1)
    assert orthant_probability([1.7] * 9, equal_correlation(0.5, 9) * 2) == pytest.approx(exact, abs=3e-4)


def test_singular_covariances():
    assert orthant_probability([1.0, 2.0], [[1.0, 2.0], [2.0, 4.0]]) == pytest.approx(ndtr(1.0), abs=1e-12)
    opposite = orthant_probability([1.0, 1.0], [[1.0, -1.0], [-1.0, 1.0]])
    assert opposite == pytest.approx(2 * ndtr(1.0) - 1, abs=1e-3)
    assert orthant_probability([1.0, 0.1], np.zeros((2, 2))) == 1
    assert orthant_probability([1.0, -0.1], np.zeros((2, 2))) == 0
    with pytest.raises(InvalidArgumentError, match=r"\(d, d\), got shapes"):
        orthant_probability([1.0], [1.0])


def test_chebyshev_is_equation_5_and_below_the_gaussian():
    assert chebyshev_success([2.0, 4.0], [1.0, 1.0]) == pytest.approx(1 - 1 / 4 - 1 / 16)
    assert chebyshev_success([2.0, 0.0], [1.0, 1.0]) == 0
    assert chebyshev_success([2.0, -1.0], [1.0, 0.0]) == 0
    assert chebyshev_success([0.5], [1.0]) == 0
    assert chebyshev_success([1e-200], [1.0]) == 0
    for margin in (1.2, 2.0, 3.5):
        bound = chebyshev_success([margin] * 3, [1.0] * 3)
        assert bound <= orthant_probability([margin] * 3, equal_correlation(0.5, 3))


def simulated(classes, members=5, images=4, noises=4_000, zeta=0.6, seed=2):
    rng = np.random.default_rng(seed)
    centre = np.linspace(1.0, 0.0, classes) * np.array([0.5, 1.0, 1.5, 2.0])[:images, None]
    clean = centre[:, None] + 0.4 * rng.standard_normal((images, members, classes))
    common = rng.standard_normal((images, noises, 1, classes))
    own = rng.standard_normal((images, noises, members, classes))
    noisy = clean[:, None] + np.sqrt(zeta) * common + np.sqrt(1 - zeta) * own
    return MemberLogits(
        clean, noisy, np.zeros((images, noises), dtype=np.int64), np.zeros(images, dtype=np.int64)
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_gaussian_model_is_what_gaussian_members_do(classes):
    logits = simulated(classes)
    found = success_probabilities(logits, fit_variance_model(logits), [1, 5])
    # At k = K nothing is left to chance but the noise, which is Gaussian: 4,000 draws have deviation <= .008.
    assert found.gaussian[:, 1] == pytest.approx(found.observed[:, 1], abs=0.02)
    # At k = 1 the five clean outputs are taken for a Gaussian.
    assert found.gaussian[:, 0] == pytest.approx(found.observed[:, 0], abs=0.05)
    assert (found.gaussian[:, 1] > found.gaussian[:, 0]).all()
    assert (found.chebyshev <= found.gaussian).all()


def test_two_classes_in_closed_form():
    logits = simulated(2, images=1, noises=50)
    one, none, most = (MemberCovariance(np.eye(2), zeta * np.eye(2)) for zeta in (0.1, 0.0, 0.6))
    model = VarianceModel("clean", clean=one, images=none, noise=most, clean_noise=np.zeros((2, 2)))
    (law,) = margin_laws(logits, "clean")
    margin = logits.clean[0, :, law.leading] - logits.clean[0, :, 1 - law.leading]
    effect = (logits.noisy - logits.clean[:, None])[0]
    moved = effect[:, :, law.leading] - effect[:, :, 1 - law.leading]
    for k in (1, 3):
        variance = (1 + 0.1 * (k - 1)) / k * margin.var() + (1 + 0.6 * (k - 1)) / k * (moved**2).mean()
        found = success_probabilities(logits, model, [k])
        assert found.gaussian[0, 0] == pytest.approx(ndtr(margin.mean() / np.sqrt(variance)), abs=1e-12)
        assert found.chebyshev[0, 0] == pytest.approx(max(0, 1 - variance / margin.mean() ** 2), abs=1e-12)


def test_observed_success_counts_windows():
    logits = simulated(3, members=3, images=2, noises=6)
    found = success_probabilities(logits, fit_variance_model(logits), [2])
    for image in range(2):
        wins = [
            logits.noisy[image, noise, list(pair)].mean(axis=0).argmax() == found.leading[image]
            for noise in range(6)
            for pair in ((0, 1), (1, 2), (2, 0))
        ]
        assert found.observed[image, 0] == pytest.approx(np.mean(wins))
