"""A law is built from its description, and from nothing that is none."""

import pytest

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.noise import DiscreteReplacement, Gaussian, GridGaussian, Laplace, Uniform, noise_from


@pytest.mark.parametrize(
    "law", [Gaussian(0.25), Laplace(0.5), Uniform(1), DiscreteReplacement(0.8, 256), GridGaussian(0.5, 64)]
)
def test_what_a_law_says_of_itself_builds_it_again(law):
    assert noise_from(law.describe()) == law


@pytest.mark.parametrize(
    "description, message",
    [
        ({}, "must be a table with a name"),
        (None, "must be a table with a name, .* got None"),
        (["gaussian"], "must be a table"),
        ({"name": "gaussian"}, "'gaussian' lacks its parameter 'sigma'; add it"),
        ({"name": "discrete", "levels": 2}, "'discrete' lacks its parameter 'keep'"),
        ({"name": "gaussian", "scale": 1}, "'gaussian' has no parameter 'scale'; it takes sigma"),
        ({"name": "gaussian", "sigma": 1, "self": 1}, "no parameter 'self'"),
        ({"name": "gaussian", "sigma": "1"}, "sigma must be a positive, finite number"),
        ({"name": "gaussian", "sigma": [1]}, "sigma must be a positive, finite number"),
        ({"name": "gaussian", "sigma": 10**400}, "sigma must lie between"),
        ({"name": "gaussian", "sigma": -(10**400)}, "sigma must be a positive"),
        (
            {"name": "gaussian", "sigma": 16**6_000},
            "sigma must lie between .* type int that cannot be written",
        ),
        ({"name": "discrete", "keep": 0.8, "levels": 10**400}, "levels must be an integer"),
        ({"name": "discrete", "keep": 10**400}, "keep must be a probability"),
        ({"name": "grid-gaussian", "sigma": 1, "dimension": 10**400}, "dimension must be an integer"),
    ],
)
def test_descriptions_that_are_none_are_named(description, message):
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        noise_from(description)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["normal", None, ["gaussian"], {"a": 1}, 3])
def test_a_name_that_is_none_is_answered_with_the_known_ones(name):
    with pytest.raises(UnknownNameError, match="known: discrete, gaussian"):
        noise_from({"name": name, "sigma": 1})
