"""Discrete replacement: exact thresholds, an exact draw, and no certificate that grey pixels could break."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import DiscreteReplacement, noise_from
from smoothcert.noise.guided_table import GuidedTable
from smoothcert.noise.laws import discrete as module
from smoothcert.noise.replacement_threshold import replacement_threshold, threshold_above, threshold_below
from smoothcert.seeding import generator_for

REFERENCE = Path(__file__).resolve().parents[2].parent / "shared" / "reference"
PUBLISHED = REFERENCE / "l0_rho_inv_mnist_K1_alpha0.80.txt"
BINARY = DiscreteReplacement(keep=0.8)
BYTES = DiscreteReplacement(keep=0.2, levels=256)


def by_enumeration(keep, levels, radius):
    """rho_r^-1(1/2) from the definition: every outcome of r coordinates (x all 0, x' all 1), sorted by ratio."""
    other = (1 - keep) / (levels - 1)
    outcomes = []
    for values in itertools.product(range(levels), repeat=radius):
        at_image = math.prod((keep if v == 0 else other for v in values), start=Fraction(1))
        at_neighbour = math.prod((keep if v == 1 else other for v in values), start=Fraction(1))
        outcomes.append((at_image / at_neighbour, at_image, at_neighbour))
    gathered = reached = Fraction(0)
    for _, mine, theirs in sorted(outcomes, reverse=True):
        if reached + theirs >= Fraction(1, 2):
            return gathered + (Fraction(1, 2) - reached) / theirs * mine
        gathered, reached = gathered + mine, reached + theirs
    raise AssertionError


@pytest.mark.parametrize("keep", [Fraction(4, 5), Fraction(1, 2), Fraction(9, 10), Fraction(2, 5)])
@pytest.mark.parametrize("levels, radius", [(2, 1), (2, 2), (2, 7), (3, 1), (3, 2), (3, 5), (5, 3), (4, 4)])
def test_equal_to_the_definition_outcome_by_outcome(keep, levels, radius):
    if keep * levels > 1:
        assert replacement_threshold(keep, levels, radius) == by_enumeration(keep, levels, radius)


def test_values_by_hand():
    """r = 1, K = 1, a = .8: .8 of x is met while .2 of x' is gathered; 3/8 of the other group reaches 1/2."""
    assert BINARY.exact_threshold(1) == Fraction(7, 8)
    assert BINARY.exact_threshold(2) == Fraction(31, 32)
    assert BINARY.exact_threshold(3) == Fraction(127, 128)
    # r = 1, 256 levels, a = .2, b = .8/255: x's own value, then part of the 254 others with ratio 1.
    assert BYTES.exact_threshold(1) == Fraction(1, 5) + Fraction(1, 2) - Fraction(8, 2550)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the field's published tables are not at hand")
def test_every_row_of_the_published_table():
    rows = [line.split("\t") for line in PUBLISHED.read_text().splitlines()[1:]]
    assert len(rows) == 21
    for radius, needed, _ in rows:
        assert abs(BINARY.exact_threshold(int(radius)) - Fraction(needed)) <= Fraction(2, 10**20)
        assert abs(BINARY.threshold(int(radius)) - Fraction(needed)) < Fraction(1, 10**15)


def test_a_decimal_is_read_as_its_digits_say():
    assert BINARY.fraction == Fraction(4, 5)
    assert DiscreteReplacement(keep=np.float64(0.7)).fraction == Fraction(7, 10)
    assert noise_from(BYTES.describe()) == BYTES
    assert BYTES.describe() == {"name": "discrete", "keep": 0.2, "levels": 256}


def test_radius_is_the_largest_whose_threshold_is_exceeded():
    assert BINARY.radius(0.875) == 0  # not exceeded
    assert BINARY.radius(np.nextafter(0.875, 1)) == 1
    assert BINARY.radius([[0.2, 0.5], [0.97, 0.9999]]).tolist() == [[0, 0], [2, 7]]
    assert BINARY.radius(1.0) == math.inf
    assert BINARY.threshold([0, 0.001, 1, 1.5, 2]).tolist() == [0.5, 0.875, 0.875, 0.96875, 0.96875]


laws = st.builds(
    lambda levels, share: DiscreteReplacement(round(1 / levels + (1 - 1 / levels) * share, 3), levels),
    st.sampled_from([2, 3, 4, 16, 256]),
    st.floats(0.1, 0.95),
)


@settings(deadline=None)
@given(law=laws, p=st.floats(0, 1), q=st.floats(0, 1))
def test_radius_and_threshold_are_inverse_without_any_slack(law, p, q):
    radius = law.radius(p)
    assert radius == int(radius) if math.isfinite(radius) else p == 1
    if p <= 0.5:
        assert radius == 0
    elif radius < module.MOST_COORDINATES:
        assert p > law.exact_threshold(int(radius))  # compared exactly, float against fraction
        assert not p > law.exact_threshold(int(radius) + 1)
        assert law.threshold(radius) <= p or radius == 0
        assert law.radius(np.nextafter(law.threshold(radius), 2)) >= radius
    assert law.radius(min(p, q)) <= law.radius(max(p, q))


@settings(deadline=None)
@given(law=laws, radius=st.floats(0, 60), more=st.floats(0, 5))
def test_threshold_is_safe_and_grows(law, radius, more):
    p = law.threshold(radius)
    assert law.exact_threshold(math.ceil(radius)) <= Fraction(p) <= 1
    assert law.threshold(radius + more) >= p
    if 0.5 < p < 1:
        assert law.radius(np.nextafter(p, 0)) < radius


def test_beyond_the_largest_radius_looked_for_nothing_is_promised():
    law = DiscreteReplacement(keep=0.5001)
    assert law.radius(0.99) == module.MOST_COORDINATES
    assert law.threshold(module.MOST_COORDINATES + 1) == 1.0


@given(
    keep=st.fractions(Fraction(51, 100), Fraction(99, 100), max_denominator=997), radius=st.integers(0, 40)
)
def test_floats_beside_a_threshold(keep, radius):
    exact = replacement_threshold(keep, 2, radius)
    low, high = threshold_below(keep, 2, radius), threshold_above(keep, 2, radius)
    assert Fraction(low) <= exact <= Fraction(high)
    assert high == low or high == np.nextafter(low, 2)


def drawn(law, image, rows=64, key=0):
    out = torch.full((rows, *image.shape), torch.nan)
    law.perturb(image, out, generator_for(1, key, "test"))
    return out


def test_binary_draw_keeps_and_flips_as_often_as_the_law_says():
    image = (torch.rand(5_000, generator=torch.Generator().manual_seed(0)) > 0.3).float()
    noisy = drawn(BINARY, image)
    assert set(noisy.unique().tolist()) == {0.0, 1.0}
    kept = int((noisy == image).sum())
    assert chisquare([kept, noisy.numel() - kept], [0.8 * noisy.numel(), 0.2 * noisy.numel()]).pvalue > 1e-3


def test_draw_of_many_levels_spreads_evenly_over_the_others():
    law = DiscreteReplacement(keep=0.4, levels=5)
    noisy = drawn(law, torch.full((20_000,), 0.5))
    counts = Counter(noisy.flatten().tolist())
    assert set(counts) == {0.0, 0.25, 0.5, 0.75, 1.0}
    expected = [noisy.numel() * (0.4 if value == 0.5 else 0.15) for value in sorted(counts)]
    assert chisquare([counts[value] for value in sorted(counts)], expected).pvalue > 1e-3


def test_bytes_stay_on_the_grid_of_the_data():
    image = torch.arange(256, dtype=torch.float32) / 255
    noisy = drawn(BYTES, image)
    assert bool(torch.isin(noisy, image).all())
    assert float((noisy == image).float().mean()) == pytest.approx(0.2, abs=0.01)


def test_what_the_division_leaves_over_is_drawn_again(monkeypatch):
    """With edges at half the integers every other value is drawn again; the law stays exact."""
    edges, again = module._edges(Fraction(4, 5), 1)
    kept, end = edges.tolist()
    assert (again, kept * 5 == end * 4) == (True, True)
    assert 0 < 2**63 - end < 5
    half = GuidedTable.of(edges // 2, again=True)
    monkeypatch.setattr(module, "_table", lambda keep, others: half)
    assert float(drawn(BINARY, torch.zeros(20_000)).mean()) == pytest.approx(0.2, abs=0.002)
    taken = GuidedTable.of(edges // 2)  # the twin that takes what is left over for a value
    monkeypatch.setattr(module, "_table", lambda keep, others: taken)
    assert float(drawn(BINARY, torch.zeros(20_000)).mean()) > 0.5


@pytest.mark.parametrize("keep, levels", [(0.75, 2), (0.625, 2), (0.75, 3), (0.5, 5), (0.125, 257)])
def test_a_division_without_rest_draws_at_once(keep, levels):
    """The integers end at 2^63 then, which no int64 holds."""
    edges, again = module._edges(Fraction(keep), levels - 1)
    assert (len(edges), again) == (levels - 1, False)
    noisy = drawn(DiscreteReplacement(keep, levels), torch.zeros(20_000))
    assert float((noisy == 0).float().mean()) == pytest.approx(keep, abs=0.005)


def test_more_levels_than_the_guide_has_cells_for_are_drawn_too():
    law = DiscreteReplacement(keep=0.5, levels=2**16)
    noisy = drawn(law, torch.full((20_000,), 1.0))
    assert float((noisy == 1).float().mean()) == pytest.approx(0.5, abs=0.005)
    others = noisy[noisy < 1]
    assert kstest(others.double().numpy(), "uniform").pvalue > 1e-3
    assert torch.equal(noisy, (noisy * (2**16 - 1)).round() / (2**16 - 1))


def test_grey_pixels_are_rounded_before_the_noise():
    """Else noise around a grey image never shows another image's values and proves nothing about it."""
    grey = torch.tensor([0.0, 0.2, 0.5, 0.500001, 0.7, 1.0])
    white = torch.tensor([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    assert torch.equal(drawn(BINARY, grey), drawn(BINARY, white))
    four = DiscreteReplacement(keep=0.5, levels=4)
    assert torch.equal(drawn(four, torch.tensor([0.3, 0.6, 0.9])), drawn(four, torch.tensor([1, 2, 3]) / 3))


@pytest.mark.parametrize("keep", [0, 0.5, 0.499, 1, 1.2, -0.1, math.nan, True, "0.8", None])
def test_refuses_a_keep_probability_that_leaves_nothing_or_all(keep):
    with pytest.raises(InvalidArgumentError, match="keep must be a probability"):
        DiscreteReplacement(keep)


@pytest.mark.parametrize("levels", [1, 0, 2.0, True, "2", 2**17])
def test_refuses_a_number_of_levels(levels):
    with pytest.raises(InvalidArgumentError, match="levels must be an integer"):
        DiscreteReplacement(0.8, levels)


def test_has_no_sigma():
    with pytest.raises(InvalidArgumentError, match="'discrete' has no sigma"):
        DiscreteReplacement.from_sigma(0.25)


@pytest.mark.parametrize("keep, levels", [(1 / 3, 65_536), (0.012345678901234567, 256)])
def test_a_probability_that_cannot_be_drawn_exactly_is_refused(keep, levels):
    with pytest.raises(InvalidArgumentError, match="too many digits"):
        DiscreteReplacement(keep, levels)
    DiscreteReplacement(round(keep, 4), levels)
