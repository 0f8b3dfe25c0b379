"""The law of the radius against brute force over all counts, and the largest radii that are published."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

from smoothcert.bounds import clopper_pearson_lower
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import Gaussian, Laplace
from smoothcert.theory import equal_inference, expected_run, mean_radii, proven_radius, radius_law

UNIT = Gaussian(1.0)


def brute_force(p, n, alpha, radius=None):
    """Mean radius, or the chance to reach one, over all n + 1 counts in plain arithmetic."""
    total = 0.0
    for count in range(n + 1):
        chance = math.comb(n, count) * p**count * (1 - p) ** (n - count)
        bound = clopper_pearson_lower(count, n, alpha)
        proven = float(ndtri(bound)) if bound > 0.5 else 0.0
        total += chance * (proven if radius is None else (bound > 0.5 and proven >= radius))
    return total


@pytest.mark.parametrize(("n", "largest"), [(10**4, 3.1986), (10**5, 3.8115), (10**6, 4.3468)])
def test_largest_radius_is_the_published_one(n, largest):
    law = radius_law(1.0, n, alpha=0.001, noise=UNIT)
    assert law.chance.tolist() == [1.0]
    assert law.mean == pytest.approx(largest, abs=5e-5)
    assert law.at_least(largest - 1e-4) == 1
    assert law.at_least(largest + 1e-4) == 0
    scaled = radius_law(1.0, n, alpha=0.001, noise=Gaussian(0.25))
    assert scaled.mean == pytest.approx(law.mean / 4, rel=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.55, 0.8, 0.97, 0.9999, 1.0])
@pytest.mark.parametrize("n", [1, 20, 150])
def test_law_is_brute_force(p, n):
    law = radius_law(p, n, alpha=0.05, noise=UNIT)
    assert law.chance.sum() == pytest.approx(1, abs=1e-12)
    assert law.mean == pytest.approx(brute_force(p, n, 0.05), abs=1e-10)
    assert law.at_least(0.4) == pytest.approx(brute_force(p, n, 0.05, 0.4), abs=1e-12)
    assert law.abstain == pytest.approx(1 - brute_force(p, n, 0.05, 0.0), abs=1e-12)
    assert (np.diff(law.radius) > 0).all()


def test_simulated_certify_has_the_same_mean():
    counts = np.random.default_rng(3).binomial(1_000, 0.85, size=20_000)
    radii = proven_radius(counts, 1_000, alpha=0.001, noise=UNIT)
    mean = radius_law(0.85, 1_000, alpha=0.001, noise=UNIT).mean
    assert radii.mean() == pytest.approx(mean, abs=4 * radii.std() / np.sqrt(20_000))


def test_grid_grows_in_both_directions_and_stays_below_the_truth():
    p, n = np.array([0.6, 0.9, 0.99, 1.0]), np.array([100, 1_000, 10_000])
    grid = mean_radii(p, n, alpha=0.001, noise=UNIT)
    assert grid.shape == (4, 3)
    assert (np.diff(grid, axis=0) > 0).all()
    assert (np.diff(grid, axis=1) > 0).all()
    assert (grid[:3] < ndtri(p[:3])[:, None]).all()
    assert grid[1, 1] == radius_law(0.9, 1_000, alpha=0.001, noise=UNIT).mean


def test_other_laws_of_noise():
    law = radius_law(1.0, 100, alpha=0.001, noise=Laplace(0.5))
    assert law.mean == pytest.approx(-0.5 * math.log(2 * (1 - 0.001**0.01)), rel=1e-9)


def test_wrong_arguments_are_named():
    with pytest.raises(InvalidArgumentError, match=r"p must be a probability in \[0, 1\], got 1.5"):
        radius_law(1.5, 10, alpha=0.1, noise=UNIT)
    with pytest.raises(InvalidArgumentError, match="n must be an integer"):
        radius_law(0.5, 0, alpha=0.1, noise=UNIT)


def test_expected_run_is_the_mean_of_brute_force():
    p, radii = [0.2, 0.8, 0.8, 1.0], [0.0, 0.4, 1.0]
    run = expected_run(p, members=1, votes=60, radii=radii, alpha=0.05, noise=UNIT)
    assert run.acr == pytest.approx(np.mean([brute_force(one, 60, 0.05) for one in p]), abs=1e-10)
    for radius, share in zip(radii, run.certified_accuracy, strict=True):
        assert share == pytest.approx(np.mean([brute_force(one, 60, 0.05, radius) for one in p]), abs=1e-12)


def test_equal_inference_spends_the_same_and_shows_what_each_buys():
    single, ensemble = [0.6, 0.7, 0.8, 1.0], [0.8, 0.9, 0.95, 1.0]
    one, longer, several = equal_inference(
        single, ensemble, k=10, n=1_000, radii=[0.0, 1.0, 2.9], alpha=0.001, noise=UNIT
    )
    assert longer.members * longer.votes == several.members * several.votes == 10 * one.votes == 10_000
    assert one.acr < longer.acr < several.acr
    # More votes reach radii that fewer cannot; a better classifier gains below them.
    assert longer.certified_accuracy[2] == pytest.approx(1 / 4)
    assert several.certified_accuracy[2] == one.certified_accuracy[2] == 0
    assert several.certified_accuracy[1] > longer.certified_accuracy[1] + 0.2
    with pytest.raises(InvalidArgumentError, match="same images, got shapes"):
        equal_inference([0.5], [0.5, 0.6], k=2, n=10, radii=[0], alpha=0.1, noise=UNIT)
    with pytest.raises(InvalidArgumentError, match="one probability per image"):
        expected_run([], members=1, votes=10, radii=[0], alpha=0.1, noise=UNIT)
