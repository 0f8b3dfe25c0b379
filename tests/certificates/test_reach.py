"""The largest provable radius against closed forms, and what is said of a share beyond it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from scipy.special import betainc, betaln
from scipy.stats import norm

import smoothcert as sc
from smoothcert.certificates.reach import Note, Reach

SIGMA, ALPHA = 0.25, 0.001
GAUSSIAN = sc.Gaussian(SIGMA)


def largest(procedure, noise=GAUSSIAN, alpha=ALPHA):
    return procedure.plan(noise, alpha).largest_radius


def all_for_one(n, alpha=ALPHA):
    """Clopper-Pearson's lower bound of n successes in n votes: p^n = alpha."""
    return alpha ** (1 / n)


def replacement_reference(p, keep, most):
    """The largest number of binary pixels that p > rho^-1(1/2) certifies, by every outcome written out."""
    found = 0
    for radius in range(1, most + 1):
        outcomes = []
        for kept in itertools.product((True, False), repeat=radius):
            here = math.prod((keep if one else 1 - keep) for one in kept)
            outcomes.append((here, math.prod((1 - keep if one else keep) for one in kept)))
        outcomes.sort(key=lambda pair: pair[0] / pair[1], reverse=True)
        needed, half = Fraction(0), Fraction(1, 2)
        for here, there in outcomes:
            part = min(there, half) / there
            needed, half = needed + here * part, half - there * part
        if p > needed:
            found = radius
    return found


@pytest.mark.parametrize("n", [20, 100, 1_000, 100_000])
def test_certify_under_every_law(n):
    p = all_for_one(n)
    procedure = sc.FixedSample(n=n)
    expected = {
        sc.Gaussian(SIGMA): SIGMA * norm.ppf(p),
        sc.GridGaussian(SIGMA, 64): SIGMA * norm.ppf(p),
        sc.Uniform(0.4): 0.8 * (p - 0.5),
        sc.Laplace(0.2): -0.2 * math.log(2 * (1 - p)),
    }
    for law, radius in expected.items():
        assert largest(procedure, law) == pytest.approx(radius, rel=1e-6)
        assert largest(procedure, law) <= radius * (1 + 1e-7)
    discrete = sc.DiscreteReplacement(0.8)
    assert largest(procedure, discrete) == replacement_reference(p, Fraction(4, 5), 12)


def test_the_published_largest_radius():
    """n = 100,000 at alpha .001 gives 3.8115 sigma; the published last stage of 120,000 a hair less."""
    assert largest(sc.FixedSample()) / SIGMA == pytest.approx(3.8115, abs=5e-5)
    assert largest(sc.Staged(radius=3.811 * SIGMA)) == 3.811 * SIGMA
    assert largest(sc.Staged(radius=3.8114 * SIGMA)) is None
    assert largest(sc.Staged(radius=3.8114 * SIGMA, stages=(100, 1_000, 10_000, 120_069))) == 3.8114 * SIGMA


def test_too_few_votes_prove_nothing_not_even_radius_zero():
    assert all_for_one(9) < 0.5 < all_for_one(10)
    assert largest(sc.FixedSample(n=9)) is None
    assert largest(sc.FixedSample(n=10)) > 0
    assert largest(sc.Sequential(max_samples=5)) is None
    assert largest(sc.Sequential(radii=(0, 0.1), max_samples=5)) is None


def test_the_runner_up_spends_half_of_alpha_on_each_side():
    p = all_for_one(1_000, ALPHA / 2)
    assert largest(sc.FixedSample(n=1_000, runner_up=True)) == pytest.approx(SIGMA * norm.ppf(p), rel=1e-9)
    p_law, q_law = p, 1 - p
    laplace = 0.2 * max(-math.log1p(q_law - p_law), (math.log(p_law) - math.log(q_law)) / 2)
    assert largest(sc.FixedSample(n=1_000, runner_up=True), sc.Laplace(0.2)) == pytest.approx(
        laplace, rel=1e-9
    )


def evidence(n, p0):
    """ln E_n of n successes in n votes, straight from its definition."""
    posterior, prior = 1 - betainc(n + 0.5, 0.5, p0), 1 - betainc(0.5, 0.5, p0)
    return betaln(n + 0.5, 0.5) + math.log(posterior) - math.log(math.pi) - math.log(prior) - n * math.log(p0)


@pytest.mark.parametrize("n", [100, 2_000])
def test_sequential_procedures_end_where_the_evidence_does(n):
    p0 = brentq(lambda p: evidence(n, p) + math.log(ALPHA), 0.6, 1 - 1e-6)
    radius = SIGMA * norm.ppf(p0)
    assert largest(sc.Sequential(max_samples=n)) == pytest.approx(radius, rel=1e-6)
    for n0 in (None, 100):
        grid = tuple(radius * share for share in (0.5, 0.999, 1.001, 1.5))
        assert largest(sc.Sequential(radii=grid, max_samples=n, n0=n0)) == grid[1]
        assert largest(sc.Sequential(radius=grid[2], max_samples=n, n0=n0)) is None


def test_group_sequential_looks_keep_most_of_alpha_for_the_last():
    last = math.ceil(2_000 * (1 + math.log(1 / 0.8) / math.log(1 / ALPHA)))
    sure, hopeless = (SIGMA * norm.ppf(share ** (1 / last)) for share in (0.8 * ALPHA, ALPHA))
    assert largest(sc.GroupSequential(radius=sure * 0.9999, n=2_000)) == sure * 0.9999
    assert largest(sc.GroupSequential(radius=hopeless * 1.0001, n=2_000)) is None


@pytest.mark.parametrize(
    "procedure, short_of",
    [
        (sc.FixedSample(n=500), 0),
        (sc.FixedSample(n=500, runner_up=True), 0),
        (sc.Staged(radius=0.5, stages=(100, 1_000)), 0),
        (sc.Sequential(radius=0.5, max_samples=2_000), 0),
        (sc.Sequential(radii=(0, 0.3, 0.5, 0.9), max_samples=2_000), 0),
        (sc.GroupSequential(radius=0.5, n=2_000), 0),
        (sc.Sequential(max_samples=2_000, tolerance=0.01), 0.01),
    ],
    ids=str,
)
def test_a_constant_classifier_reaches_it(procedure, short_of):
    constant = sc.SmoothedClassifier(
        lambda batch: torch.eye(3)[torch.ones(len(batch), dtype=int)], GAUSSIAN, 3
    )
    radius = constant.certify(np.full(2, 0.5), procedure, seed=1, workers=1).radius
    assert largest(procedure) - short_of <= radius <= largest(procedure)


class TestNotes:
    def test_beyond_what_can_be_proven(self):
        reach = Reach(0.5)
        assert reach.note(0.5, 0.0) is None
        assert reach.note(0.500001, 0.0) is Note.NOT_PROVABLE
        assert Reach(None).note(0.0, 0.0) is Note.NOT_PROVABLE
        assert Reach(0.5, is_known=False).note(0.6, 0.0) is Note.NOT_KNOWN
        assert Reach(None, is_known=False).note(0.0, 0.0) is Note.NOT_KNOWN

    def test_what_was_not_asked(self):
        reach = Reach(0.25, asked=(0.25, 0.9))
        assert reach.note(0.25, 0.0) is None
        assert reach.note(0.9, 0.0) is Note.NOT_PROVABLE
        assert reach.note(0.0, 0.0) is Note.NOT_ASKED
        assert reach.note(0.0, 0.3) is Note.AT_LEAST
        assert reach.note(1.0, 0.0) is Note.NOT_ASKED

    def test_a_radius_is_known_by_its_name(self):
        """Headings are rounded down to six digits; 2/255 is asked about under its name .00784313."""
        assert Reach(2 / 255, asked=(2 / 255,)).note(0.00784313, 0.0) is None

    def test_shares_that_say_nothing_are_none(self):
        one = np.array([0, 1])
        results = sc.certificates.Results(one, one, np.array([0, -1]), np.array([0.3, 0.0]))
        assert Reach(0.5).read(results, [0, 0.5, 0.75]).told == [0.5, 0.0, None]


@pytest.mark.parametrize(
    "procedure",
    [sc.FixedSample(n0=64, n=64), sc.Staged(radius=0.1, stages=(64, 128))],
    ids=["fixed", "staged"],
)
def test_a_run_reaches_as_far_as_its_folder_says(tmp_path, procedure):
    """The run that was just made knows its reach from its plan, the one that is opened from the manifest."""
    dataset = sc.Dataset.from_arrays(np.full((1, 1), 0.5, dtype=np.float32), [0])
    classifier = sc.SmoothedClassifier(lambda batch: torch.cat([-batch, batch], dim=1), GAUSSIAN, 2)
    run = sc.certify(classifier, dataset, procedure=procedure, seed=1, workers=1, out=tmp_path / "run")
    assert run.reach == sc.Run.open(tmp_path / "run").reach
    assert run.reach.largest is not None
