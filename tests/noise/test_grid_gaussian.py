"""Float-safe Gaussian noise: the draw equals its table, the table its law, and the table's error is charged."""

from decimal import Decimal, getcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, norm

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError, InvalidImageError
from smoothcert.noise import GridGaussian, noise_from
from smoothcert.noise.grid_table import grid_table, thresholds
from smoothcert.noise.guided_table import BITS
from smoothcert.seeding import generator_for

SIGMAS = (0.02, 0.12, 0.25, 0.5, 1.0, 3.3)
ON_GRID = torch.arange(256, dtype=torch.float32) / 255


def phi(x):
    """Phi to 40 digits, by its series (small x) or continued fraction (large)."""
    getcontext().prec = 60
    z = abs(x)
    density = (-z * z / 2).exp() / (2 * PI).sqrt()
    if z < 6:
        term = total = z
        k = 1
        while abs(term) > Decimal(10) ** -50:
            term = term * z * z / (2 * k + 1)
            total += term
            k += 1
        tail = Decimal("0.5") - density * total
    else:
        fraction = Decimal(0)
        for k in range(400, 0, -1):
            fraction = k / (z + fraction)
        tail = density / (z + fraction)
    return tail if x < 0 else 1 - tail


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def test_the_reference_is_right():
    assert float(phi(Decimal("1.25"))) == pytest.approx(norm.cdf(1.25), rel=1e-15)
    assert float(phi(Decimal("-7.5"))) == pytest.approx(norm.cdf(-7.5), rel=1e-13)
    assert abs(phi(Decimal("5.9999999999")) - phi(Decimal("6"))) < Decimal("1e-17")


@pytest.mark.parametrize("sigma", SIGMAS)
def test_every_threshold_is_within_what_is_charged(sigma):
    reach = 255 * (GridGaussian(sigma).reach + 1)
    edges = thresholds(sigma, reach)
    assert len(edges) == 2 * reach
    assert (np.diff(edges) >= 0).all()
    assert (edges >= 0).all()
    for place in range(0, 2 * reach, max(1, reach // 90)):
        k = place - reach
        exact = phi(Decimal(2 * k + 1) / (510 * Decimal(sigma)))
        error = abs(Decimal(int(edges[place])) / 2**BITS - exact)
        assert error <= Decimal(2) ** -53
    assert GridGaussian(sigma, 784).charge >= 2 * 784 * len(edges) * 2**-53


@pytest.mark.parametrize("sigma, expected", [(0.25, 1.1e-13), (0.5, 2.3e-13), (1.0, 4.0e-13)])
def test_charge_per_coordinate_is_twice_the_published_one(sigma, expected):
    assert GridGaussian(sigma, 1).charge == pytest.approx(2 * expected, rel=0.03)


class Told:
    """Words that a test chooses: the top 16 bits of 63-bit integers first, then the others for those asked about."""

    on_cpu = True

    def __init__(self, integers):
        self.integers = integers.astype(np.uint64)
        self.asked = None

    def raw(self, count):
        if self.asked is None:
            self.asked = -1
            top = (self.integers >> np.uint64(47)).astype(np.uint16)
            return np.concatenate([top, np.zeros(-len(top) % 4, np.uint16)]).view(np.uint64)
        self.asked = count
        return self.integers[self.unsure] << np.uint64(17)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_the_guide_answers_like_the_thresholds(sigma):
    """At every threshold, one below it, at the ends of every cell, and at random: the slow count of thresholds."""
    reach = 255 * (GridGaussian(sigma).reach + 1)
    table, edges = grid_table(sigma, reach), thresholds(sigma, reach)
    cells = np.arange(2**16, dtype=np.int64) << (BITS - 16)
    random = np.random.default_rng(0).integers(0, 2**63, 20_000)
    asked = np.concatenate([edges, edges - 1, cells, cells - 1, random, [0, 2**63 - 1]])
    asked = asked[asked >= 0]
    words = Told(asked)
    words.unsure = table.guide[asked >> (BITS - 16)] == -(2**15)
    found = table.draw(words, len(asked)).numpy()
    assert words.asked == words.unsure.sum()
    expected = np.searchsorted(edges, asked, side="right") - reach
    assert (found == expected).all()
    few = slice(None, None, len(asked) // 500)
    assert (found[few] == (edges[None, :] <= asked[few, None]).sum(axis=1) - reach).all()
    assert found.min() >= -reach
    assert found.max() <= reach


def drawn(law, image, rows=64, key=1):
    out = torch.full((rows, *image.shape), torch.nan)
    law.perturb(image, out, generator_for(key, 0, "test"))
    return out


@pytest.mark.parametrize("sigma", [0.05, 0.25, 1.0])
def test_drawn_noise_follows_its_law_on_the_grid(sigma):
    image = torch.full((4_000,), 128 / 255)
    noisy = drawn(GridGaussian(sigma), image)
    step = (noisy * 255).round()
    assert torch.equal(noisy, step / 255)
    counts = np.unique((step - 128).numpy(), return_counts=True)
    k, seen = counts[0], counts[1]
    expected = noisy.numel() * (norm.cdf((2 * k + 1) / (510 * sigma)) - norm.cdf((2 * k - 1) / (510 * sigma)))
    common = expected >= 10
    share = expected[common] * seen[common].sum() / expected[common].sum()
    assert chisquare(seen[common], share).pvalue > 1e-3
    assert seen[common].sum() == pytest.approx(expected[common].sum(), rel=0.01)


def test_the_noisy_image_moves_with_the_image_bit_by_bit():
    """What plain float noise does not do: the same draw around another image is the same image, moved."""
    image, other = ON_GRID[:200], ON_GRID[31:231]
    one, two = drawn(GridGaussian(0.12), image), drawn(GridGaussian(0.12), other)
    assert torch.equal((one * 255).round() + 31, (two * 255).round())
    assert torch.equal(two, ((one * 255).round() + 31) / 255)
    plain_one, plain_two = drawn(sc.Gaussian(0.12), image), drawn(sc.Gaussian(0.12), other)
    assert not torch.equal(plain_one + (other - image), plain_two)


def test_clips_where_it_says():
    assert [GridGaussian(s).reach for s in (0.05, 0.25, 0.5, 1.0, 1.2)] == [1, 1, 3, 6, 7]
    narrow = drawn(GridGaussian(0.33), torch.tensor([0.0, 1.0]).repeat(20_000))
    assert (float(narrow.min()), float(narrow.max())) == (-1.0, 2.0)


def test_the_number_of_coordinates_is_charged():
    law = GridGaussian(0.25)
    small, large = law.for_shape((1, 8, 8)), law.for_shape((3, 224, 224))
    assert (small.dimension, large.dimension) == (64, 150_528)
    assert small.radius(0.9) > large.radius(0.9) > law.radius(0.9) > 0.99999 * sc.Gaussian(0.25).radius(0.9)
    assert small.threshold(0.3) < large.threshold(0.3)
    assert small.radius(0.5 + small.charge / 2) == 0
    assert np.isfinite(large.radius(1.0))
    assert noise_from(small.describe()) == small


@given(p=st.floats(0, 1), dimension=st.integers(1, 2**18), sigma=st.floats(1e-4, 20))
def test_never_more_than_plain_gaussian(p, dimension, sigma):
    law = GridGaussian(sigma, dimension)
    radius = law.radius(p)
    assert 0 <= radius < np.inf
    if p > 0.5:
        assert radius <= sigma * norm.ppf(max(p - law.charge, 0.5))
    else:
        assert radius == 0


@pytest.mark.parametrize("image", [[0.5], [1 / 7], [127.4 / 255], [-1 / 255], [256 / 255], [0.2, 0.21]])
def test_images_off_the_grid_are_refused(image):
    tensor = torch.tensor(image)
    with pytest.raises(InvalidImageError, match="8-bit"):
        GridGaussian(0.25).check_image(tensor)
    with pytest.raises(InvalidImageError, match="8-bit"):
        drawn(GridGaussian(0.25), tensor)
    classifier = sc.SmoothedClassifier(lambda b: b.repeat(1, 2), GridGaussian(0.25), 2, allow_any_range=True)
    with pytest.raises(InvalidImageError, match="8-bit"):
        classifier.certify(tensor, sc.FixedSample(n=10))


def test_bytes_are_on_the_grid_by_every_route():
    for image in (torch.arange(256) * (1 / 255), (torch.arange(256).double() / 255).float()):
        GridGaussian(0.25).check_image(image)
        assert torch.equal(drawn(GridGaussian(0.25), image), drawn(GridGaussian(0.25), ON_GRID))


def test_too_large_images_are_refused():
    with pytest.raises(InvalidImageError, match="for_shape"):
        GridGaussian(0.25, dimension=3).check_image(torch.zeros(4))


@pytest.mark.parametrize("dimension", [0, -1, 1.5, True, "9"])
def test_refuses_what_is_no_number_of_coordinates(dimension):
    with pytest.raises(InvalidArgumentError, match="dimension"):
        GridGaussian(0.25, dimension)


def test_refuses_a_sigma_too_large_for_its_table():
    with pytest.raises(InvalidArgumentError, match="at most 20"):
        GridGaussian(20.1)


def test_a_certificate_names_the_coordinates_it_was_charged_for():
    image = np.full((1, 2, 2), 51, dtype=np.uint8)
    classifier = sc.SmoothedClassifier(
        lambda b: torch.stack([b.flatten(1).mean(1), torch.full((len(b),), 5.0)], 1), sc.GridGaussian(0.25), 2
    )
    certificate = classifier.certify(image, sc.FixedSample(n=500), seed=1, workers=1)
    assert certificate.noise == {"name": "grid-gaussian", "sigma": 0.25, "dimension": 4}
    assert certificate.radius == GridGaussian(0.25, 4).radius(certificate.p_lower)
    assert classifier.predict(image, 200, seed=1, workers=1) == 1
