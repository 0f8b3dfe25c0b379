"""Radii in another norm: true for every vector, tight where the ball touches, never rounded up."""

import math
import sys
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NORMS, radius_in_norm

LENGTH = {
    "l1": lambda v: np.abs(v).sum(),
    "l2": lambda v: math.sqrt((v * v).sum()),
    "linf": lambda v: np.abs(v).max(),
}
pairs = pytest.mark.parametrize("source, target", [(a, b) for a in NORMS for b in NORMS])


@pairs
@given(vector=st.lists(st.integers(-1_000, 1_000), min_size=1, max_size=20))
def test_what_is_within_the_new_radius_is_within_the_old_one(source, target, vector):
    v = np.array(vector, dtype=np.float64)
    new = radius_in_norm(1.0, source, target, v.size)
    if LENGTH[target](v) > 0:
        inside = v * (new / LENGTH[target](v))
        assert LENGTH[source](inside) <= 1 + 1e-12


@pairs
def test_nothing_larger_would_hold(source, target):
    """The corner (1, .., 1) or the axis (1, 0, .., 0) touches the old ball."""
    d = 3 * 32 * 32
    new = radius_in_norm(1.0, source, target, d)
    lengths = []
    for v in (np.ones(d), np.eye(1, d)[0]):
        lengths.append(LENGTH[source](v * (new / LENGTH[target](v))))
    assert max(lengths) == pytest.approx(1, rel=1e-12)


@given(radius=st.floats(0, 1e6), d=st.integers(1, 10**6))
def test_linf_from_l2_is_rounded_down(radius, d):
    found = radius_in_norm(radius, "l2", "linf", d)
    assert 0 <= found <= radius
    assert found == pytest.approx(radius / math.sqrt(d), rel=1e-14, abs=1e-300)
    with localcontext(prec=4_000):  # every product of floats is exact
        assert Decimal(found) ** 2 * d <= Decimal(radius) ** 2
        larger = Decimal(math.nextafter(found, math.inf))
        assert larger**2 * d > Decimal(radius) ** 2 or larger > radius  # and not further down than needed


def test_what_divides_exactly_stays_exact():
    assert radius_in_norm([0.05, 0.5], "l2", "linf", 64).tolist() == [0.05 / 8, 0.0625]
    assert radius_in_norm(3.0, "l1", "linf", 4) == 0.75


def test_vectorised_and_without_end():
    assert radius_in_norm([0.0, 1.0, math.inf], "l2", "linf", 4)[[0, 2]].tolist() == [0.0, math.inf]
    assert isinstance(radius_in_norm(0.5, "l2", "linf", 4), float)
    assert radius_in_norm(sys.float_info.max, "l2", "linf", 1) == sys.float_info.max


@pytest.mark.parametrize("norms", [("l0", "l2"), ("l2", "l0"), ("l3", "l2")])
def test_refuses_other_norms(norms):
    with pytest.raises(InvalidArgumentError, match="must be one of l1, l2, linf"):
        radius_in_norm(1.0, *norms, 4)


@pytest.mark.parametrize("dimension", [0, -1, 2.0, True, 10**400])
def test_refuses_a_dimension(dimension):
    with pytest.raises(InvalidArgumentError, match="dimension"):
        radius_in_norm(1.0, "l2", "linf", dimension)
