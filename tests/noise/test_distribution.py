"""Noise as drawn against exact probabilities, tails included, and its independence; each test refuses an unsound twin.

All p-values are of fixed seeds, so nothing here fails by chance.
"""

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, chisquare, laplace, norm, uniform

from smoothcert.noise import Gaussian, GridGaussian, Laplace, Uniform
from smoothcert.seeding import generator_for

LEAST = 1e-4  # of a p-value
EXACT = {
    "gaussian": (Gaussian(1.0), norm()),
    "laplace": (Laplace(1.0), laplace()),
    "uniform": (Uniform(1.0), uniform(-1, 2)),
}
TAILS = (1e-3, 1e-4, 1e-5, 1e-6)
by_name = pytest.mark.parametrize("name", EXACT)


def drawn(law, coordinates, rows=64, chunk=0):
    out = torch.empty(rows, coordinates)
    law.perturb(torch.zeros(coordinates), out, generator_for(11, 4, "distribution", chunk))
    return out.numpy()


def bins_p(noise, exact):
    """p-value of 500 bins that are equally likely by the law."""
    edges = exact.ppf(np.arange(1, 500) / 500)
    return chisquare(np.bincount(np.searchsorted(edges, noise.ravel()), minlength=500)).pvalue


def tail_p(noise, exact):
    """Least p-value of the numbers beyond exact quantiles, on either side, times the number of questions."""
    found = []
    for p in TAILS:
        found += [((noise > exact.isf(p)).sum(), p), ((noise < exact.ppf(p)).sum(), p)]
    return len(found) * min(binomtest(int(seen), noise.size, p).pvalue for seen, p in found)


@by_name
def test_noise_fills_equally_likely_bins_equally(name):
    law, exact = EXACT[name]
    noise = drawn(law, 2**14)
    assert bins_p(noise, exact) > LEAST
    assert bins_p(noise * np.float32(1.02), exact) < LEAST  # the twin is a little too wide


@by_name
def test_tails_are_as_heavy_as_the_law_says(name):
    law, exact = EXACT[name]
    noise = drawn(law, 2**17)
    assert tail_p(noise, exact) > LEAST


def test_twins_with_short_tails_are_seen():
    """Sums of twelve uniforms, and Box and Muller's transform of 12-bit uniforms, which stops at 4.25 sigma."""
    random = np.random.default_rng(0)
    sums = random.random((12, 2**19), dtype=np.float32).sum(axis=0) - 6
    assert tail_p(sums, norm()) < LEAST
    u, v = ((random.integers(0, 2**12, 2**21) + 0.5) / 2**12 for _ in range(2))
    short = np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)
    assert abs(short).max() < 4.25
    assert tail_p(short, norm()) < LEAST


def test_where_the_tails_end():
    """The largest value that each law can draw, in its own unit: told in docs/soundness.md."""
    assert 5.2 < abs(drawn(Gaussian(1.0), 2**17)).max() <= np.sqrt(48 * np.log(2))
    assert 12 < abs(drawn(Laplace(1.0), 2**17)).max() <= 25 * np.log(2)
    assert 0.9999 < abs(drawn(Uniform(1.0), 2**14)).max() <= 1


def largest_correlation(chunks):
    """Largest correlation, in standard deviations, of two chunks, of two votes of a chunk, and of two coordinates.

    Chunks also beside each other shifted by up to four words, because streams that overlap are copies so shifted.
    """
    chunks = [(chunk - chunk.mean()) / chunk.std() for chunk in chunks]
    size = chunks[0].size
    values = []
    for one, two in itertools.pairwise(chunks):
        a, b = one.ravel(), two.ravel()
        values += [np.dot(a[: size - lag], b[lag:]) / np.sqrt(size - lag) for lag in range(9)]
        values += [np.dot(b[: size - lag], a[lag:]) / np.sqrt(size - lag) for lag in range(1, 9)]
    rows, coordinates = chunks[0].shape
    for chunk in chunks:
        votes = chunk @ chunk.T / np.sqrt(coordinates)
        values += votes[np.triu_indices(rows, 1)].tolist()
    many = np.concatenate(chunks)[:, :60]
    across = many.T @ many / np.sqrt(len(many))
    values += across[np.triu_indices(60, 1)].tolist()
    return np.abs(values).max()


LAWS = [*(law for law, _ in EXACT.values()), GridGaussian(0.25)]
LARGEST = (
    5.6  # standard deviations: some 20,000 are looked at, of which one exceeds it with probability 0.0005
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.law_name)
def test_chunks_votes_and_coordinates_are_uncorrelated(law):
    chunks = [drawn(law, 784, chunk=chunk) for chunk in range(8)]
    assert largest_correlation(chunks) < LARGEST


def test_twins_whose_draws_depend_on_each_other_are_seen():
    """Streams that overlap, mirrored pairs, a small part that all votes share, and a chunk that is repeated."""
    random = np.random.default_rng(1)
    long = random.standard_normal(8 * 64 * 784, dtype=np.float32)
    fresh = [long[i * 50_176 : (i + 1) * 50_176].reshape(64, 784) for i in range(8)]
    assert largest_correlation(fresh) < LARGEST
    overlapping = [long[4 * i : 4 * i + 50_176].reshape(64, 784) for i in range(8)]
    mirrored = [np.concatenate([chunk[:32], -chunk[:32]]) for chunk in fresh]
    part = random.standard_normal(784)
    shared = [chunk + 0.6 * part for chunk in fresh]
    for twin in (overlapping, mirrored, shared, [fresh[0], fresh[0]]):
        assert largest_correlation(twin) > 10
