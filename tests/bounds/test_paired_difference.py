"""The interval of a paired difference: against enumerated trinomial laws, from both sides, with twins that fail."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from smoothcert.bounds import (
    MOST_PAIRS,
    clopper_pearson_lower,
    clopper_pearson_upper,
    paired_difference_interval,
)
from smoothcert.bounds.paired_tail import PairedTail
from smoothcert.errors import InvalidArgumentError

Z = norm.ppf(0.975)
interval = cache(paired_difference_interval)


def mirrored(gained, lost, pairs, alpha):
    """The interval, half of whose work is that of the exchanged pair."""
    if gained >= lost:
        return interval(gained, lost, pairs, alpha)
    low, high = interval(lost, gained, pairs, alpha)
    return -high, -low


def outcomes(pairs):
    return [(b, c) for b in range(pairs + 1) for c in range(pairs + 1 - b)]


def law(pairs, gain, loss):
    """Probabilities of all outcomes, by factorials."""
    rest = max(1 - gain - loss, 0.0)
    return {
        (b, c): math.comb(pairs, b) * math.comb(pairs - b, c) * gain**b * loss**c * rest ** (pairs - b - c)
        for b, c in outcomes(pairs)
    }


def wald(gained, lost, pairs, alpha=0.05):
    """The twin that papers use: too narrow where few pairs differ."""
    half = norm.ppf(1 - alpha / 2) * math.sqrt(gained + lost - (gained - lost) ** 2 / pairs) / pairs
    return (gained - lost) / pairs - half, (gained - lost) / pairs + half


def unpaired(gained, lost, both, pairs, alpha=0.05):
    """The twin that forgets the pairs: bounds on each share alone."""
    first, second = both + lost, both + gained
    return tuple(
        float(upper_first(second, pairs, alpha / 4) - upper_second(first, pairs, alpha / 4))
        for upper_first, upper_second in (
            (clopper_pearson_lower, clopper_pearson_upper),
            (clopper_pearson_upper, clopper_pearson_lower),
        )
    )


def missed(pairs, gain, loss, how):
    """Exact chances that the lower end lies above the truth, and the upper end below it."""
    truth, low, high = gain - loss, 0.0, 0.0
    for (b, c), chance in law(pairs, gain, loss).items():
        ends = how(b, c, pairs, 0.05)
        low += chance * (ends[0] > truth + 1e-12)
        high += chance * (ends[1] < truth - 1e-12)
    return low, high


@pytest.mark.parametrize(("observed", "pairs", "z"), [((5, 1), 12, Z), ((0, 0), 9, 3.0), ((2, 9), 11, 3.5)])
def test_the_chance_of_outcomes_that_rank_as_high(observed, pairs, z):
    """By a loop over all outcomes: each takes the rank of the best among those that it must not rank below."""

    def rank(b, c):
        return (b - c - z * math.sqrt(b + c + z**2 / 2 - (b - c) ** 2 / (pairs + z**2))) / (pairs + z**2)

    def closed(b, c):
        return max(rank(x, y) for x in range(b + 1) for y in range(c, pairs + 1 - x))

    high = {one for one in outcomes(pairs) if closed(*one) >= rank(*observed) - 1e-12}
    tail = PairedTail(*observed, pairs, z, 0.0, 1.0)
    for gain, loss in [(0.2, 0.1), (0.3, 0.3), (0.02, 0.01), (0.4, 0.0), (0.0, 0.4), (0.55, 0.45)]:
        expected = sum(chance for one, chance in law(pairs, gain, loss).items() if one in high)
        assert tail._chance(np.array([[gain]]), np.array([[loss]]))[0] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(("gained", "lost", "pairs"), [(1_365, 32, 10_000), (60_000, 59_000, MOST_PAIRS)])
def test_the_chance_among_many_pairs(gained, lost, pairs):
    """The same outcomes, summed by another library's binomial law; the allowance for rounding covers what differs."""
    share, delta = (gained + lost) / pairs, (gained - lost) / pairs
    tail = PairedTail(gained, lost, pairs, Z, 0.98 * share, 1.02 * share)
    apart = np.arange(int(0.85 * share * pairs), int(1.15 * share * pairs))
    for move in (-0.9, -1.0, -1.1):
        true = delta + move * (delta - tail.rank)
        gain, loss = (share + true) / 2, (share - true) / 2
        below = binom.cdf(tail._most_lost[apart], apart, loss / share)
        expected = float(binom.pmf(apart, pairs, share) @ below)
        found = float(tail._chance(np.array([[gain]]), np.array([[loss]]))[0])
        assert 0.01 < expected < 0.06
        assert -1e-13 * pairs <= found - expected <= 1e-13 * pairs + 1e-8


@pytest.mark.parametrize("delta", [-0.05, 0.0, 0.013, 0.12])
def test_a_cell_is_bounded_and_not_only_looked_at(delta):
    """Between the edges of a cell, however wide, no chance is larger than the bound of the cell."""
    tail = PairedTail(40, 15, 500, Z, 0.05, 0.2)
    edges = np.linspace(0.06, 0.19, 6)
    bounds = tail.chances(delta, np.stack([edges[:-1], edges[1:]]))
    for bound, low, high in zip(bounds, edges, edges[1:], strict=False):
        pi = np.linspace(max(low, abs(delta)), high, 50)[:, None]
        if high > abs(delta):
            inside = tail._chance((pi + delta) / 2, (pi - delta) / 2)
            assert inside.max() <= bound
            assert (inside[-1] if delta > 0 else inside[0]) > 0 or bound < 1e-6


GRID = [
    (gain, loss)
    for gain, loss in product((0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.95), repeat=2)
    if gain + loss <= 1
]
MODERATE = [(gain, loss) for gain, loss in GRID if min(gain, loss) >= 0.1 and gain + loss <= 0.8]


def test_no_end_errs_too_often_and_none_is_given_away():
    """Exactly, over all 231 outcomes of 20 pairs; discreteness alone makes coverage .965 where p is moderate."""
    errors = {point: missed(20, *point, mirrored) for point in GRID}
    assert max(max(error) for error in errors.values()) <= 0.025
    assert max(max(error) for error in errors.values()) > 0.022  # the worst point is nearly used up
    mean = np.mean([1 - sum(errors[point]) for point in MODERATE])
    assert 0.95 <= mean < 0.971
    twin = {point: missed(20, *point, wald) for point in GRID}
    assert max(max(error) for error in twin.values()) > 0.3
    assert np.mean([1 - sum(twin[point]) for point in MODERATE]) < 0.94


def test_the_same_at_another_level():
    limits = {one: mirrored(*one, 16, 0.01) for one in outcomes(16)}
    worst = 0.0
    for gain, loss in GRID:
        chances = law(16, gain, loss)
        low = sum(p for one, p in chances.items() if limits[one][0] > gain - loss + 1e-12)
        high = sum(p for one, p in chances.items() if limits[one][1] < gain - loss - 1e-12)
        worst = max(worst, low, high)
    assert 0.004 < worst <= 0.005


def test_drawn_pairs():
    """Of 200 draws of 500 pairs about ten intervals miss; unpaired ones never do, and so see less."""
    rng = np.random.default_rng(5)
    drawn = [tuple(map(int, one)) for one in rng.multinomial(500, [0.08, 0.04, 0.75, 0.13], 200)]
    ours = [interval(b, c, 500, 0.05) for b, c, _, _ in drawn]
    twin = [unpaired(b, c, both, 500) for b, c, both, _ in drawn]
    assert 2 <= sum(not low <= 0.04 <= high for low, high in ours) <= 18
    assert sum(not low <= 0.04 <= high for low, high in twin) == 0
    assert sum(low > 0 for low, _ in ours) > 2 * sum(low > 0 for low, _ in twin) > 0
    assert np.mean([high - low for low, high in ours]) < 0.6 * np.mean([high - low for low, high in twin])


@pytest.mark.parametrize(
    ("gained", "lost", "pairs", "wider"),
    [(40, 15, 500, 1.08), (250, 250, 500, 1.03), (600, 400, 10_000, 1.02), (12_000, 11_000, 50_000, 1.015)],
)
def test_hardly_wider_than_the_approximate_one_where_that_is_good(gained, lost, pairs, wider):
    low, high = interval(gained, lost, pairs, 0.05)
    approximate = wald(gained, lost, pairs)
    assert 1 < (high - low) / (approximate[1] - approximate[0]) < wider


@pytest.mark.parametrize(("gained", "lost", "pairs"), [(3, 1, 7), (0, 0, 40), (40, 0, 40), (5, 30, 400)])
def test_exchanged_runs_have_the_mirrored_interval(gained, lost, pairs):
    low, high = interval(gained, lost, pairs, 0.05)
    assert interval(lost, gained, pairs, 0.05) == (-high, -low)
    assert -1 <= low <= (gained - lost) / pairs <= high <= 1
    wider = interval(gained, lost, pairs, 0.01)
    assert wider[0] <= low
    assert wider[1] >= high


def test_the_ends_of_the_range():
    """Where only one outcome ranks as high, the end is a power of alpha, less what pi and the cells cost."""
    exact = 1 - 0.025 ** (1 / 500)
    assert interval(0, 0, 500, 0.05) == pytest.approx((-exact, exact), rel=0.02)
    assert abs(interval(0, 0, 500, 0.05)[0]) >= exact
    low, high = interval(500, 0, 500, 0.05)
    assert (low, high) == (pytest.approx(1 - 2 * exact, abs=exact), 1.0)
    for one in ((0, 0), (1, 0), (0, 1)):  # one image proves next to nothing
        low, high = interval(*one, 1, 0.05)
        assert (low, high) == (pytest.approx(-0.97, abs=0.031), pytest.approx(0.97, abs=0.031))


def test_ends_follow_the_counts():
    for b, c in outcomes(20):
        low, high = mirrored(b, c, 20, 0.05)
        if c:  # one pair changes sides
            assert mirrored(b + 1, c - 1, 20, 0.05) > (low, high)
        if b + c < 20:  # the range of pi moves too, by which an end may fall back a little
            assert mirrored(b + 1, c, 20, 0.05)[0] > low - 0.0005
            assert mirrored(b, c + 1, 20, 0.05)[0] < low + 0.0005


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((1, 1, 0, 0.05), "pairs must be an integer from 1 to"),
        ((1, 1, 10**7, 0.05), "pairs must be an integer from 1 to"),
        ((-1, 1, 5, 0.05), "gained must be an integer from 0 to 5"),
        ((1, 1.5, 5, 0.05), "lost must be an integer"),
        ((3, 3, 5, 0.05), "together at most 5, got 3 and 3"),
        ((3, 1, 5, 0.0), "alpha is an error probability"),
    ],
)
def test_mistakes(arguments, sentence):
    with pytest.raises(InvalidArgumentError, match=sentence):
        paired_difference_interval(*arguments)
