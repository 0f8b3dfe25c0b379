"""The guarantee itself, from both sides, against closed-form truth (DESIGN, soundness rule 8).

Same number of trials everywhere: sound procedures stay within alpha and reach what is there to be had, and
each unsound twin fails the very check that its sound original passes.
"""

import numpy as np
import pytest
from scipy.stats import binom

import smoothcert as sc
from truth import (
    ALPHA,
    DISTRIBUTIONS,
    JUST_ABOVE,
    LAWS,
    MARGINS,
    TARGETED,
    TIMES,
    UNTARGETED,
    WELL_BELOW,
    FilteredVotes,
    N,
    PeekingFixedBound,
    ReusedVotes,
    certify_often,
    errors,
    exact_chance,
    half_space,
    most_errors,
)


@pytest.mark.parametrize("law", LAWS)
def test_the_truth_is_what_the_tests_believe(law):
    margin, noise = MARGINS[law], LAWS[law]
    p = DISTRIBUTIONS[law](margin)
    assert noise.radius(p) == pytest.approx(margin, rel=1e-9)
    drawn = certify_often(half_space(margin), noise, sc.FixedSample(n=1_000_000), times=1, alpha=0.5, seed=5)
    assert drawn.radius[0] == pytest.approx(margin, rel=0.01)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", TARGETED)
def test_targeted_procedure_errs_at_most_alpha_and_has_power_by_exact_computation(name, law):
    margin, noise, p = MARGINS[law], LAWS[law], DISTRIBUTIONS[law](MARGINS[law])
    assert exact_chance(TARGETED[name](margin * JUST_ABOVE), noise, p) <= ALPHA
    assert exact_chance(TARGETED[name](margin * WELL_BELOW), noise, p) >= 0.9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_fixed_sample_errs_at_most_alpha_and_has_power_by_exact_computation(law, share):
    margin, noise, counts = share * MARGINS[law], LAWS[law], np.arange(N + 1)
    chances = binom.pmf(counts, N, DISTRIBUTIONS[law](margin))
    radii = noise.radius(sc.bounds.clopper_pearson_lower(counts, N, ALPHA))
    assert chances[radii > margin].sum() <= ALPHA
    if margin:
        assert chances[radii >= WELL_BELOW * margin].sum() >= 0.9


# From the image to the certificate, with noise as it is drawn: every procedure and every law. The other pairs differ
# from these in the probability that a radius needs, and are computed exactly above.
DRAWN_TARGETED = [
    ("sequential", "gaussian"),
    ("sequential-n0", "uniform"),
    ("sequential-grid", "laplace"),
    ("staged", "uniform"),
    ("group", "laplace"),
]
DRAWN_UNTARGETED = [
    ("fixed", "gaussian", 1.0),  # at 0 beside its unsound twin below
    ("fixed", "uniform", 0.0),
    ("fixed", "laplace", 1.0),
    ("anytime", "gaussian", 0.0),
    ("anytime", "uniform", 1.0),
    ("anytime", "laplace", 0.0),
]


def test_what_is_drawn_covers_every_procedure_under_some_law_and_every_law():
    assert {name for name, _ in DRAWN_TARGETED} == set(TARGETED)
    assert {law for _, law in DRAWN_TARGETED} == set(LAWS)
    assert {(name, law) for name, law, _ in DRAWN_UNTARGETED} == {
        (n, law) for n in UNTARGETED for law in LAWS
    }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law"), DRAWN_TARGETED)
def test_targeted_procedure_errs_at_most_alpha_and_has_power(name, law):
    margin, noise = MARGINS[law], LAWS[law]
    model = half_space(margin)
    above = certify_often(
        model, noise, TARGETED[name](margin * JUST_ABOVE), times=TIMES, alpha=ALPHA, seed=11
    )
    assert errors(above, margin) <= most_errors(TIMES, ALPHA)
    below = certify_often(
        model, noise, TARGETED[name](margin * WELL_BELOW), times=TIMES, alpha=ALPHA, seed=12
    )
    reached = (below.predicted == 1) & (below.radius >= margin * WELL_BELOW)
    assert reached.mean() >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law", "share"), DRAWN_UNTARGETED)
def test_untargeted_procedure_errs_at_most_alpha_and_has_power(name, law, share):
    margin, noise = share * MARGINS[law], LAWS[law]
    results = certify_often(half_space(margin), noise, UNTARGETED[name], times=TIMES, alpha=ALPHA, seed=13)
    assert errors(results, margin) <= most_errors(TIMES, ALPHA)
    if margin:
        assert ((results.predicted == 1) & (results.radius >= WELL_BELOW * margin)).mean() >= 0.9


def test_error_check_is_sharp_enough_to_mean_something():
    """Too weak a check would pass anything: at 1.5 alpha it fails four times in five, at 2 alpha always."""
    assert binom.sf(most_errors(TIMES, ALPHA), TIMES, 1.5 * ALPHA) > 0.8
    assert binom.sf(most_errors(TIMES, ALPHA), TIMES, 2 * ALPHA) > 0.999


@pytest.mark.slow
def test_reused_selection_votes_fail_where_fresh_ones_pass():
    """At even odds the larger of two counts is bounded, so both sides can err: twice alpha."""
    noise, model = LAWS["gaussian"], half_space(0.0)
    twin = certify_often(model, noise, ReusedVotes(n=N), times=TIMES, alpha=ALPHA, seed=14)
    assert errors(twin, 0.0) > most_errors(TIMES, ALPHA)
    sound = certify_often(model, noise, sc.FixedSample(n=N), times=TIMES, alpha=ALPHA, seed=14)
    assert errors(sound, 0.0) <= most_errors(TIMES, ALPHA)


@pytest.mark.slow
def test_filtered_votes_fail_where_all_votes_count():
    """With unsure votes for no class, class 1 is the half-space pulled in by the doubt: radius margin - doubt."""
    noise, margin, doubt = LAWS["gaussian"], 0.25, 0.05
    model = half_space(margin, doubt)
    how = {"times": TIMES, "alpha": ALPHA, "seed": 15, "on_nan": "count"}
    sound = certify_often(model, noise, sc.FixedSample(n=N), **how)
    assert errors(sound, margin - doubt) <= most_errors(TIMES, ALPHA)
    assert (sound.radius >= WELL_BELOW * (margin - doubt)).mean() >= 0.9
    twin = certify_often(model, noise, FilteredVotes(n=N), **how)
    assert errors(twin, margin - doubt) > most_errors(TIMES, ALPHA)


@pytest.mark.slow
def test_peeking_with_a_fixed_sample_bound_fails():
    noise, margin = LAWS["gaussian"], MARGINS["gaussian"]
    twin = PeekingFixedBound(radius=margin * JUST_ABOVE, max_samples=N)
    results = certify_often(half_space(margin), noise, twin, times=TIMES, alpha=ALPHA, seed=11)
    assert errors(results, margin) > most_errors(TIMES, ALPHA)


@pytest.mark.parametrize("margin", np.linspace(0.75, 2.5, 8))
def test_fixed_sample_reaches_97_percent_of_the_radius_on_average(margin):
    """Exact: the mean certified radius over the binomial law of the count at n = 100,000, alpha = .001."""
    n, noise = 100_000, sc.Gaussian(1.0)
    counts = np.arange(n // 2, n + 1)
    radii = noise.radius(sc.bounds.clopper_pearson_lower(counts, n, 0.001))
    mean = (binom.pmf(counts, n, DISTRIBUTIONS["gaussian"](0.25 * margin)) * radii).sum()
    assert 0.97 * margin <= mean < margin


def test_fixed_sample_at_full_length_lands_where_the_exact_law_says():
    noise, margin = sc.Gaussian(0.25), 0.25
    drawn = certify_often(half_space(margin), noise, sc.FixedSample(), times=10, alpha=0.001, seed=17)
    assert (drawn.radius < margin).all()
    assert drawn.radius.mean() >= 0.97 * margin
