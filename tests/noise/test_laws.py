"""Every noise law through the same laws: sampled as its formula says, radius and threshold inverse and safe."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, laplace, norm, uniform

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.noise import NOISE_LAWS, Gaussian, Laplace, Uniform, noise_from
from smoothcert.seeding import generator_for

LAWS = [Gaussian(0.25), Uniform(half_width=0.4), Laplace(scale=0.2)]
FROZEN = {"gaussian": norm(scale=0.25), "uniform": uniform(-0.4, 0.8), "laplace": laplace(scale=0.2)}
by_name = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.law_name)


def test_every_registered_law_is_tested():
    elsewhere = {"discrete", "grid-gaussian"}  # files of their own
    assert {law.law_name for law in LAWS} | elsewhere == set(NOISE_LAWS)


@by_name
def test_sampled_noise_follows_its_law(law):
    image = torch.full((500,), 0.3)
    noisy = torch.empty(64, 500)
    law.perturb(image, noisy, generator_for(1, 0, "test"))
    noise = (noisy - image).flatten().double().numpy()
    assert kstest(noise, FROZEN[law.law_name].cdf).pvalue > 1e-3
    assert noise.std() == pytest.approx(law.std, rel=0.02)
    rows = np.corrcoef(noise.reshape(64, 500))
    assert abs(rows[~np.eye(64, dtype=bool)]).max() < 0.25  # rows are not copies of each other


@by_name
def test_noise_is_never_clipped(law):
    noisy = torch.empty(64, 400)
    law.perturb(torch.ones(400), noisy, generator_for(2, 0, "test"))
    assert float(noisy.max()) > 1


def test_published_radii():
    assert Uniform.from_sigma(0.25).radius(0.99) == pytest.approx(0.42435, abs=5e-6)
    assert Laplace.from_sigma(0.25).radius(0.99) == pytest.approx(0.69155, abs=5e-6)
    assert Gaussian(1.0).radius(0.001 ** (1 / 100_000)) == pytest.approx(3.8115, abs=5e-5)


@by_name
@given(p=st.floats(0, 1))
def test_radius_is_safe_and_inverse_to_threshold(law, p):
    radius = law.radius(p)
    assert not math.isnan(radius)
    if p <= 0.5:
        assert radius == 0
    elif math.isfinite(radius):
        back = law.threshold(radius)
        # Rounded down and then up again: it may not ask for more than there was by more than rounding.
        assert back == pytest.approx(p, rel=1e-12, abs=1e-15)
        exact = FROZEN[law.law_name].ppf(p)  # p is the chance of noise below the radius
        assert radius <= exact
        assert radius == pytest.approx(exact, rel=1e-7, abs=1e-12)


@by_name
@given(radius=st.floats(0, 3), more=st.floats(0, 1))
def test_threshold_is_safe_and_grows(law, radius, more):
    p = law.threshold(radius)
    assert 0.5 <= p <= 1
    exact = FROZEN[law.law_name].cdf(radius)
    assert p >= exact
    assert p == pytest.approx(exact, rel=1e-7)
    assert law.threshold(radius + more) >= p


@by_name
@given(p=st.floats(0, 1), q=st.floats(0, 1))
def test_radius_grows_with_the_probability(law, p, q):
    low, high = sorted((p, q))
    assert law.radius(low) <= law.radius(high)


@by_name
def test_radius_zero_needs_exactly_one_half(law):
    assert law.threshold(0) == 0.5
    assert law.radius(0.5) == 0


@by_name
def test_vectorised(law):
    p = np.array([[0.2, 0.6], [0.9, 0.99]])
    assert law.radius(p).shape == (2, 2)
    assert law.radius(p)[1, 0] == law.radius(0.9)
    assert law.threshold([0.0, 0.1]).tolist() == [0.5, law.threshold(0.1)]


def test_uniform_cannot_reach_beyond_its_half_width():
    assert Uniform(half_width=0.4).threshold(0.41) == 1.0
    assert Uniform(half_width=0.4).radius(1.0) <= 0.4


@by_name
def test_description_builds_an_equal_law(law):
    assert noise_from(law.describe()) == law
    assert type(law).from_sigma(law.std).std == pytest.approx(law.std)


@pytest.mark.parametrize("kind", [Gaussian, Uniform, Laplace])
@pytest.mark.parametrize("scale", [0, -0.25, 1e-9, 1e9, float("nan"), float("inf"), True, "0.25", None])
def test_refuses_a_scale_that_is_not_positive_and_finite(kind, scale):
    with pytest.raises(InvalidArgumentError, match=r"must (be a positive, finite number|lie between)"):
        kind(scale)


@by_name
@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_refuses_what_is_no_probability(law, p):
    with pytest.raises(InvalidArgumentError, match="p_lower"):
        law.radius(p)
    with pytest.raises(InvalidArgumentError, match="radius"):
        law.threshold(-p if p > 0 else float("nan"))


def test_unknown_law_lists_the_known():
    with pytest.raises(UnknownNameError, match="discrete, gaussian, grid-gaussian, laplace, uniform"):
        noise_from({"name": "cauchy"})


@by_name
def test_radii_use_the_scale_that_float32_noise_has(law):
    """float32(.7) is below .7: noise drawn with it proves a little less."""
    kind = type(law)
    for scale in (0.7, 0.12, 0.9, 0.1):
        drawn = float(np.float32(scale))
        assert kind(scale).radius(0.9) <= kind(min(drawn, scale)).radius(0.9)
        assert kind(scale).radius(0.9) <= kind(1.0).radius(0.9) * min(drawn, scale) * (1 + 1e-12)
