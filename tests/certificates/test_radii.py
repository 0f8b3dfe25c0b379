"""A radius that names a column or key is never larger than the radius whose figures it names."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smoothcert.certificates import Results
from smoothcert.radii import named_radii, radius_key
from smoothcert.report import Summary


@given(st.lists(st.floats(0, 1e6), max_size=5))
def test_a_name_is_exact_and_not_above(radii):
    named = named_radii(radii)
    assert all(name <= radius for name, radius in zip(named, radii, strict=True))
    assert [float(f"{name:g}") for name in named] == named.tolist()
    assert [float(radius_key(name)) for name in named] == named.tolist()
    np.testing.assert_allclose(named, radii, rtol=1e-5)


def test_figures_of_derived_radii_stand_under_radii_that_they_are_true_of():
    """To nearest, 2/255 would be named .00784314, and an image certified up to .007843138 counted there."""
    one = np.array([1])
    results = Results(index=one, label=one, predicted=one, radius=np.array([2 / 255]))
    manifest = {"norm": "linf", "procedure": {"name": "sequential", "radii": [2 / 255]}}
    keys = Summary("mine", results, 0.0, manifest=manifest).to_json()["certified_accuracy"]
    shares = {key: float(results.certified_accuracy(float(key))[0]) for key in keys}
    assert keys == shares
    assert keys["0.00784313"] == 1.0
