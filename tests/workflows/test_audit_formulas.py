"""The audit's second formulas agree with the first ones, and would notice if those were wrong."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import smoothcert as sc
from smoothcert.bounds import log_evidence_above
from smoothcert.certificates import PROCEDURES, Tally
from smoothcert.noise import NOISE_LAWS
from smoothcert.sampling import Counts
from smoothcert.workflows.auditing.independent import contradictions, without_second_formula
from smoothcert.workflows.auditing.second_bounds import BOUNDS, evidence, tail
from smoothcert.workflows.auditing.second_radii import RADII, RIVALS, replaced
from smoothcert.workflows.auditing.stored import CertificateRow


@pytest.mark.parametrize(
    "successes, trials, p", [(60, 100, 0.5), (990, 1_000, 0.97), (5, 5, 0.9), (0, 10, 0.3)]
)
def test_tail_is_the_binomial_one(successes, trials, p):
    assert tail(successes, trials, p) == pytest.approx(binom.sf(successes - 1, trials, p), rel=1e-9)


@pytest.mark.parametrize(
    "successes, trials, p0", [(60, 64, 0.6), (700, 1_000, 0.69), (99_000, 100_000, 0.989), (3, 3, 0.5)]
)
def test_evidence_is_the_closed_form(successes, trials, p0):
    assert math.log(evidence(successes, trials, p0)) == pytest.approx(
        float(log_evidence_above(successes, trials, p0)), abs=1e-4
    )


def test_evidence_is_the_integral_it_is_defined_by():
    def prior(p):
        return 1 / math.sqrt(p * (1 - p))

    above, _ = quad(lambda p: prior(p) * (p / 0.6) ** 40 * ((1 - p) / 0.4) ** 10, 0.6, 1)
    mass, _ = quad(prior, 0.6, 1)
    assert evidence(40, 50, 0.6) == pytest.approx(above / mass, rel=1e-4)


LAWS = [
    sc.Gaussian(0.25),
    sc.Uniform(half_width=0.4),
    sc.Laplace(scale=0.2),
    sc.GridGaussian(0.25, 3_072),
    sc.DiscreteReplacement(keep=0.8),
    sc.DiscreteReplacement(keep=0.2, levels=256),
]


@pytest.mark.parametrize("noise", LAWS, ids=str)
@pytest.mark.parametrize("p", [0.500001, 0.6, 0.99, 0.999999])
def test_radius_is_the_laws_own(noise, p):
    assert RADII[noise.law_name](p, noise.parameters()) == pytest.approx(noise.radius(p), rel=1e-6)


@pytest.mark.parametrize("keep, levels", [(0.8, 2), (0.6, 3), (0.2, 256)])
def test_the_second_l0_threshold_is_the_exact_one(keep, levels):
    law = sc.DiscreteReplacement(keep=keep, levels=levels)
    for radius in (1, 2, 3, 7, 20):
        assert replaced(keep, levels, radius) == pytest.approx(float(law.exact_threshold(radius)), rel=1e-12)


def test_a_coordinate_too_many_is_noticed():
    law, p = sc.DiscreteReplacement(keep=0.8), 0.99
    tally = Tally("estimate", "bound", Counts(_two(9_990, 10_000), 10_000))
    for radius, wrong in ((law.radius(p), False), (law.radius(p) + 1, True)):
        row = CertificateRow(0, 1, "CERTIFIED", 1, radius, p, 10_000, 10_000, 0.0)
        assert bool(contradictions(law, {"name": "fixed"}, 0.001, row, [tally])) == wrong


def _claim(procedure, radius, p_lower, votes, drawn, purpose="bound", proven=None):
    row = CertificateRow(0, 1, "CERTIFIED", 1, radius, p_lower, drawn, drawn, 0.0)
    tally = Tally("estimate", purpose, Counts(_two(votes, drawn), drawn), proven)
    return contradictions(sc.Gaussian(0.25), procedure, 0.001, row, [tally])


def _two(votes, drawn):
    return np.array([drawn - votes, votes])


def test_a_rival_that_may_be_too_strong_is_noticed():
    noise, about = sc.Gaussian(0.25), {"name": "fixed", "runner_up": True}
    votes = np.array([400, 600, 0])
    p, q = sc.bounds.runner_up_bounds(600, 400, 1_000, 0.001)
    spread = np.array([100, 600, 100, 100, 100])
    p_spread, q_spread = sc.bounds.runner_up_bounds(600, 100, 1_000, 0.001)
    for counted, radius, p_lower in (
        (votes, noise.runner_up_radius(p, q), p),
        (spread, noise.runner_up_radius(p_spread, q_spread), p_spread),
    ):
        tally = Tally("estimate", "bound", Counts(counted, 1_000))
        for claim, wrong in ((radius, False), (radius + 0.001, True)):
            row = CertificateRow(0, 1, "CERTIFIED", 1, claim, p_lower, 1_000, 1_000, 0.0)
            assert bool(contradictions(noise, about, 0.001, row, [tally])) == wrong


def test_a_bound_that_is_too_large_is_noticed():
    """By a thousandth in p already: these formulas are no mere formality."""
    noise, fixed = sc.Gaussian(0.25), {"name": "fixed"}
    p = sc.bounds.clopper_pearson_lower(900, 1_000, 0.001)
    assert _claim(fixed, noise.radius(p), p, 900, 1_000) == []
    assert "do not prove" in _claim(fixed, noise.radius(p + 0.001), p + 0.001, 900, 1_000)[0]
    assert "is more than" in _claim(fixed, noise.radius(p) * 1.0001, p, 900, 1_000)[0]
    sequential = {"name": "sequential"}
    p0 = noise.threshold(0.25)
    least = next(k for k in range(841, 1_001) if log_evidence_above(k, 1_000, p0) >= math.log(1_000))
    assert _claim(sequential, 0.25, p0, least, 1_000, "certify", 0.25) == []
    assert _claim(sequential, 0.25, p0, least - 1, 1_000, "certify", 0.25) != []
    staged = {"name": "staged", "stages": [100, 1_000]}
    enough = next(k for k in range(1_001) if binom.sf(k - 1, 1_000, p0) <= 0.0005)
    assert _claim(staged, 0.25, p0, enough, 1_000, "certify", 0.25) == []
    assert _claim(staged, 0.25, p0, enough - 1, 1_000, "certify", 0.25) != []


def test_every_law_and_procedure_of_this_package_has_a_second_formula():
    assert set(RADII) == set(NOISE_LAWS)
    assert set(BOUNDS) == set(PROCEDURES)
    for law in LAWS:
        for name in PROCEDURES:
            assert not list(without_second_formula(law, {"name": name}))
        if law.law_name in RIVALS:
            assert not list(without_second_formula(law, {"name": "fixed", "runner_up": True}))
        else:
            with pytest.raises(sc.errors.InvalidArgumentError, match="no radius from the runner-up"):
                law.runner_up_radius(0.9, 0.1)


@pytest.mark.parametrize("noise", [law for law in LAWS if law.law_name in RIVALS], ids=str)
@pytest.mark.parametrize("p, q", [(0.6, 0.3), (0.4, 0.1), (0.9, 1e-3), (0.99, 1e-6)])
def test_the_rival_that_a_radius_allows_is_the_one_it_was_made_from(noise, p, q):
    rival = RIVALS[noise.law_name](p, noise.runner_up_radius(p, q), noise.parameters())
    assert rival == pytest.approx(q, rel=1e-4)


@pytest.mark.parametrize("noise", [sc.Uniform(0.4), sc.Laplace(0.2), sc.GridGaussian(0.25, 64)], ids=str)
@pytest.mark.parametrize("spread", [[100, 600, 100, 100, 100], [1, 900, 2, 3, 94], [0, 990, 0, 5, 5]])
def test_a_rival_that_may_be_too_strong_is_noticed_under_every_law(noise, spread):
    top, second = max(spread), sorted(spread)[-2]
    p, q = sc.bounds.runner_up_bounds(top, second, 1_000, 0.001)
    radius = noise.runner_up_radius(p, min(q, 1 - p))
    tally = Tally("estimate", "bound", Counts(np.array(spread), 1_000))
    about = {"name": "fixed", "runner_up": True}
    for claim, wrong in ((radius, False), (radius * 1.001, True), (radius + 10, True)):
        row = CertificateRow(0, 1, "CERTIFIED", 1, claim, p, 1_000, 1_000, 0.0)
        assert bool(contradictions(noise, about, 0.001, row, [tally])) == wrong
