"""Every noise law with any parameters, over the whole domain of probabilities and radii."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from smoothcert import noise as room
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import (
    NOISE_LAWS,
    DiscreteReplacement,
    Gaussian,
    GridGaussian,
    Laplace,
    Uniform,
    noise_from,
)
from smoothcert.noise.laws.discrete import MOST_COORDINATES
from smoothcert.seeding import generator_for

scales = st.floats(1e-4, 1e4)
LAWS = {
    "gaussian": st.builds(Gaussian, scales),
    "uniform": st.builds(Uniform, scales),
    "laplace": st.builds(Laplace, scales),
    "grid-gaussian": st.builds(GridGaussian, st.floats(1e-4, 20), st.integers(1, 2**18)),
    "discrete": st.builds(
        lambda levels, share: DiscreteReplacement(round(1 / levels + (1 - 1 / levels) * share, 3), levels),
        st.sampled_from([2, 3, 10, 256]),
        st.floats(0.2, 0.99),
    ),
}
every_law = pytest.mark.parametrize("name", LAWS)
probabilities = st.one_of(st.floats(0, 1), st.floats(0.5, 0.500001), st.floats(0.999999, 1))
calm = settings(deadline=None, max_examples=60)


def test_every_law_and_every_public_name_is_tested():
    assert set(LAWS) == set(NOISE_LAWS)
    norms, shared = (
        {"NORMS", "radius_in_norm"},
        {"NoiseLaw", "AdditiveNoise", "OneScaleNoise", "check_scale", "in_words"},
    )
    here = {
        "DiscreteReplacement",
        "Gaussian",
        "GridGaussian",
        "Laplace",
        "Uniform",
        "noise_from",
    }
    assert here | norms | shared | {"NOISE_LAWS"} == set(room.__all__)


@every_law
@calm
@given(data=st.data(), p=probabilities, q=probabilities)
def test_radius(name, data, p, q):
    law = data.draw(LAWS[name])
    low, high = law.radius(min(p, q)), law.radius(max(p, q))
    assert 0 <= low <= high  # NaN would fail
    if min(p, q) <= 0.5:
        assert low == 0
    assert law.radius(np.array([p, q])).tolist() == [law.radius(p), law.radius(q)]


@every_law
@calm
@given(data=st.data(), share=st.floats(0, 10), more=st.floats(0, 3))
def test_threshold(name, data, share, more):
    law = data.draw(LAWS[name])
    radius = share * law.std
    low, high = law.threshold(radius), law.threshold(radius + more * law.std)
    assert 0.5 <= low <= high <= 1
    assert law.threshold(0) == 0.5
    if radius > 0:
        assert low > 0.5
    assert law.threshold(np.array([radius])).tolist() == [low]


@every_law
@calm
@given(data=st.data(), p=probabilities)
def test_threshold_of_radius_gives_the_probability_back(name, data, p):
    law = data.draw(LAWS[name])
    radius = law.radius(p)
    if radius == 0 or not math.isfinite(radius):
        assert p <= law.threshold(1e-9 * law.std) + 1e-15 or p == 1 or name == "discrete"
        return
    back = law.threshold(radius)
    assert back <= p * (1 + 1e-12)  # no more is asked for than there was
    if name == "discrete":
        assert p <= law.threshold(radius + 1) or radius == MOST_COORDINATES
    else:
        assert back == pytest.approx(p, rel=1e-12)


@every_law
@calm
@given(data=st.data(), share=st.floats(1e-3, 4))
def test_radius_of_threshold_gives_the_radius_back(name, data, share):
    law = data.draw(LAWS[name])
    radius = share * law.std
    p = law.threshold(radius)
    if p == 1:
        return  # out of reach
    above = law.radius(np.nextafter(p, 2))
    if name == "discrete":
        assert above >= math.ceil(radius)
        assert law.radius(np.nextafter(p, 0)) < math.ceil(radius)
    else:
        assert above == pytest.approx(
            radius, rel=1e-7
        )  # floats near 1 are 1e-16 apart: 1e-12 of the radius here
        assert law.radius(p * (1 - 1e-9)) < radius


@every_law
@calm
@given(data=st.data(), p=probabilities, q=probabilities, less=st.floats(0, 1))
def test_runner_up_radius(name, data, p, q, less):
    law = data.draw(LAWS[name])
    if name == "discrete":
        with pytest.raises(InvalidArgumentError, match="runner-up"):
            law.runner_up_radius(p, q)
        return
    radius = law.runner_up_radius(p, q)
    assert radius >= 0  # NaN would fail
    if p <= q:
        assert radius == 0
    assert law.runner_up_radius(p * less, q) <= radius
    assert law.runner_up_radius(p, q * less) >= radius
    # All that the class leaves is one rival's: the default (the grid's charge counts against a lead, too).
    if p > q >= 1 - p and p - q > 1e-4:
        assert radius == pytest.approx(law.radius(p), rel=1e-9, abs=1e-9 * law.std)


@every_law
@calm
@given(data=st.data(), seed=st.integers(0, 2**32), size=st.integers(1, 40))
def test_noisy_images_are_finite_and_their_law_is_told_by_its_description(name, data, seed, size):
    law = data.draw(LAWS[name])
    image = torch.randint(0, 256, (size,), generator=torch.Generator().manual_seed(seed)) / 255
    one, two = torch.full((2, 7, size), torch.nan)
    law.perturb(image, one, generator_for(seed, 0, "test"))
    noise_from(law.describe()).perturb(image, two, generator_for(seed, 0, "test"))
    assert bool(torch.isfinite(one).all())
    assert torch.equal(one, two)
    assert noise_from(law.describe()) == law


@given(name=st.sampled_from(sorted(LAWS)), sigma=st.floats(0.01, 2))
def test_a_law_by_its_options(name, sigma):
    kind = NOISE_LAWS[name]
    if name == "discrete":
        assert kind.from_options({"keep": 0.75, "levels": 3}) == DiscreteReplacement(0.75, 3)
        with pytest.raises(InvalidArgumentError, match=r"takes no sigma \(got .*\); it takes keep, levels"):
            kind.from_options({"sigma": sigma, "keep": 0.75})
        with pytest.raises(InvalidArgumentError, match="needs keep"):
            kind.from_options({"levels": 3, "keep": None})
    else:
        assert kind.from_options({"sigma": sigma, "keep": None}).std == pytest.approx(sigma)
        with pytest.raises(InvalidArgumentError, match="needs sigma"):
            kind.from_options({})
        with pytest.raises(InvalidArgumentError, match="takes no keep"):
            kind.from_options({"sigma": sigma, "keep": 0.8})


@every_law
@calm
@given(data=st.data())
def test_a_law_is_told_by_its_own_options(name, data):
    law = data.draw(LAWS[name])
    assume(name == "discrete" or 2e-4 <= law.std <= 9e3)  # well within the limits
    values, options = law.option_values(), {option.name: option for option in law.options()}
    assert list(values) == list(options)
    assert all(isinstance(value, options[name].kind) for name, value in values.items())
    again = type(law).from_options(values)
    assert again.law_name == law.law_name == name
    assert again.std == pytest.approx(law.std)
    if name == "discrete":
        assert again == law


@every_law
@calm
@given(data=st.data())
def test_the_float_safe_form_of_a_law(name, data):
    law = data.draw(LAWS[name])
    if name == "gaussian" and law.sigma <= 20:
        assert law.float_safe() == GridGaussian(law.sigma)
    elif law.holds_in_floats:
        assert law.float_safe() is law
    elif name != "gaussian":
        with pytest.raises(InvalidArgumentError, match=f"no float-safe form of noise '{name}'"):
            law.float_safe()
