"""The guarantee of every kind of ensemble, from both sides, where its truth is known: half-spaces with one normal."""

import pytest

import smoothcert as sc
from smoothcert.ensembles import AdaptiveEnsemble
from truth import (
    ALPHA,
    JUST_ABOVE,
    WELL_BELOW,
    HalfSpace,
    ReusedVotes,
    assert_votes_of_the_half_space,
    certify_often,
    errors,
    most_errors,
)


def voting(rule, margins, slopes, weights=None):
    members = [HalfSpace(*member) for member in zip(margins, slopes, strict=True)]
    return sc.VotingEnsemble(members, rule, weights)


def alike(margin):
    """Members that differ in certainty and agree on the class, so that early exits keep the boundary."""
    return voting("softmax", (margin,) * 3, (0.5, 2.0, 8.0), [3, 2, 1])


# From a shift of all margins to an ensemble whose boundary lies 0.25 plus that shift away, by hand: soft, the mean of
# margins weighted by slope and weight; hard, their median; max-margin and softmax, the middle.
KINDS = {
    "soft": lambda s: voting("soft", (0.1 + s, 0.25 + s, 0.4 + s), (1, 1, 1)),
    "soft-weighted": lambda s: voting("soft", (0.05 + s, 0.35 + s), (1, 1), [1, 2]),
    "softmax": lambda s: voting("softmax", (0.1 + s, 0.25 + s, 0.4 + s), (5, 5, 5)),
    "hard": lambda s: voting("hard", (0.1 + s, 0.25 + s, 0.6 + s), (1, 3, 1)),
    "max-margin": lambda s: voting("max-margin", (0.1 + s, 0.25 + s, 0.4 + s), (5, 5, 5)),
    "consensus": lambda s: sc.ConsensusEnsemble(
        voting("soft", (0.1 + s, 0.3 + s, 0.35 + s), (1, 1, 1)), 2
    ),  # the first two differ on either side of the mean of all three, 0.25
    "consensus-hard": lambda s: sc.ConsensusEnsemble(
        voting("hard", (0.1 + s, 0.6 + s, 0.25 + s), (1, 1, 1)), 2
    ),
    "adaptive": lambda s: AdaptiveEnsemble(alike(0.25 + s), 0.7),
    "nested": lambda s: sc.VotingEnsemble(
        [sc.ConsensusEnsemble(alike(0.1 + s), 2), voting("soft", (0.3 + s, 0.5 + s), (1, 1))], "max-margin"
    ),
}
MARGIN, NOISE = 0.25, sc.Gaussian(0.25)
N, TIMES = 1_000, 1_000  # votes: enough to reach four fifths of the margin nearly always


def test_the_boundaries_are_where_the_tests_believe():
    for name, make in KINDS.items():
        if name == "nested":  # its members differ in certainty: only the sign at the two ends is checked here
            continue
        model = make(0.0).eval()
        for place, expected in ((-0.01, 0), (0.01, 1)):
            answer = model(sc.Dataset.from_arrays([[0.25 + place]], [0]).batch([0]).repeat(16, 1)).argmax(1)
            assert answer.tolist() == [expected] * 16, name


FEW = 100  # certificates of 1,000 votes: a boundary off by 1e-4 of sigma moves some of their votes
PROCEDURES = {
    "fixed": sc.FixedSample(n=N),
    "group": sc.GroupSequential(radius=MARGIN * JUST_ABOVE, n=N, beta=0.05),
}


@pytest.mark.parametrize("name", PROCEDURES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "nested"])
def test_every_ensemble_casts_the_votes_of_the_half_space_that_it_is(kind, name):
    """So that it errs as rarely and reaches as far: `test_truth.py` has shown that of half-spaces."""
    model, how = KINDS[kind](0.0).eval(), {"times": FEW, "alpha": ALPHA, "seed": 31}
    assert_votes_of_the_half_space(model, MARGIN, NOISE, PROCEDURES[name], **how)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["soft", "nested"])
def test_an_ensemble_errs_at_most_alpha_and_has_power(kind):
    model = KINDS[kind](0.0).eval()
    fixed = certify_often(model, NOISE, PROCEDURES["fixed"], times=TIMES, alpha=ALPHA, seed=31)
    assert errors(fixed, MARGIN) <= most_errors(TIMES, ALPHA)
    assert ((fixed.predicted == 1) & (fixed.radius >= WELL_BELOW * MARGIN)).mean() >= 0.9
    above = certify_often(model, NOISE, PROCEDURES["group"], times=TIMES, alpha=ALPHA, seed=32)
    assert errors(above, MARGIN) <= most_errors(TIMES, ALPHA)


def test_an_ensemble_with_another_boundary_is_told_apart():
    """The comparison can fail: one member a hundredth of sigma off."""
    off = voting("soft", (0.1, 0.25, 0.4075), (1, 1, 1)).eval()
    how = {"times": FEW, "alpha": ALPHA, "seed": 31}
    with pytest.raises(AssertionError):
        assert_votes_of_the_half_space(off, MARGIN, NOISE, PROCEDURES["fixed"], **how)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["max-margin", "consensus"])
def test_reused_votes_of_an_ensemble_fail_the_same_check(kind):
    model = KINDS[kind](-MARGIN).eval()  # the image lies on the boundary: no radius is true
    twin = certify_often(model, NOISE, ReusedVotes(N), times=TIMES, alpha=ALPHA, seed=34)
    sound = certify_often(model, NOISE, sc.FixedSample(n=N), times=TIMES, alpha=ALPHA, seed=34)
    assert errors(sound, 0.0) <= most_errors(TIMES, ALPHA) < errors(twin, 0.0)
