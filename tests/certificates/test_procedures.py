"""Procedures: what they conclude follows from the stored counts, and costs what the exact law says."""

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, norm

import smoothcert as sc
from smoothcert.bounds import Boundary, clopper_pearson_lower, confidence_sequence_lower, operate
from smoothcert.certificates import PROCEDURES
from smoothcert.errors import InvalidArgumentError
from truth import CENTRE, LAWS, certify_often, half_space

SIGMA = 0.25
POINT = np.array([CENTRE], dtype=np.float32)
ALL = {
    "fixed": sc.FixedSample(n=3_000),
    "staged": sc.Staged(radius=SIGMA, stages=(100, 1_000)),
    "sequential": sc.Sequential(radius=SIGMA, max_samples=3_000),
    "group": sc.GroupSequential(radius=SIGMA, n=3_000),
}


def certify(margin, procedure, seed=1, **how):
    return sc.SmoothedClassifier(half_space(margin), sc.Gaussian(SIGMA), 2).certify(
        POINT, procedure, seed=seed, workers=1, **how
    )


def test_every_registered_procedure_is_tested():
    assert set(ALL) == set(PROCEDURES)


@pytest.mark.parametrize("name", ALL)
def test_certificate_says_what_it_is_about(name):
    certificate = certify(3 * SIGMA, ALL[name], index=4)
    assert certificate.outcome is sc.Outcome.CERTIFIED
    assert certificate.is_certified
    assert certificate.predicted == 1
    assert certificate.norm == "l2"
    assert certificate.noise == {"name": "gaussian", "sigma": SIGMA}
    assert certificate.procedure["name"] == name
    assert (certificate.alpha, certificate.seed, certificate.index) == (0.001, 1, 4)
    assert certificate.engine == "callable"
    assert certificate.model.startswith("callable:")
    assert certificate.evaluations == certificate.samples
    assert certificate.counts.drawn <= certificate.samples
    with pytest.raises(AttributeError):
        certificate.radius = 9.0


def test_fixed_sample_is_the_formula_on_its_counts():
    certificate = certify(SIGMA, sc.FixedSample(n0=100, n=10_000))
    select, bound = certificate.tallies
    assert (select.purpose, select.counts.drawn, bound.purpose, bound.counts.drawn) == (
        "select",
        100,
        "bound",
        10_000,
    )
    p_lower = clopper_pearson_lower(int(bound.counts.votes[1]), 10_000, 0.001)
    assert certificate.p_lower == p_lower
    assert certificate.radius == pytest.approx(SIGMA * norm.ppf(p_lower), rel=1e-10)
    assert certificate.samples == 10_100


def test_fixed_sample_abstains_at_even_odds_and_says_why():
    certificate = certify(0.0, sc.FixedSample(n=1_000))
    assert certificate.outcome is sc.Outcome.NO_MAJORITY
    assert (certificate.predicted, certificate.radius, certificate.is_certified) == (None, 0.0, False)
    assert "half" in str(certificate.outcome)


@pytest.mark.parametrize("name", ["staged", "sequential", "group"])
def test_a_hopeless_radius_is_given_up_early(name):
    certificate = certify(0.2 * SIGMA, ALL[name])
    assert certificate.outcome is sc.Outcome.OUT_OF_REACH
    assert certificate.predicted is None
    assert certificate.samples <= 300


@pytest.mark.parametrize("name", ["staged", "sequential", "group"])
def test_votes_that_run_out_are_called_that(name):
    certificate = certify(1.01 * SIGMA, ALL[name])
    assert certificate.outcome is sc.Outcome.CAP_REACHED
    assert certificate.counts.drawn == {"staged": 1_000, "sequential": 3_000, "group": 3_097}[name]


@pytest.mark.parametrize("name", ["staged", "sequential", "group"])
def test_a_certified_target_is_proven_by_the_counts_at_its_look(name):
    certificate = certify(2 * SIGMA, ALL[name])
    assert certificate.radius == SIGMA
    assert certificate.p_lower == pytest.approx(norm.cdf(1))
    proof = certificate.tallies[-1]
    assert (proof.purpose, proof.radius) == ("certify", SIGMA)
    boundary = ALL[name].plan(sc.Gaussian(SIGMA), 0.001).boundaries[0]
    look = boundary.looks.tolist().index(proof.counts.drawn)
    assert proof.counts.votes[1] >= boundary.certify[look]


def test_a_grid_is_proven_radius_by_radius_with_the_counts_that_did_it():
    radii = (0.0, 0.1, 0.2, 0.3, 0.4)
    procedure = sc.Sequential(radii=radii, max_samples=50_000)
    certificate = certify(0.33, procedure)
    assert certificate.radius == 0.3
    proven = [t for t in certificate.tallies if t.purpose == "certify"]
    assert [t.radius for t in proven] == [0.0, 0.1, 0.2, 0.3]
    drawn = [t.counts.drawn for t in proven]
    assert drawn == sorted(drawn)
    assert drawn[0] < drawn[-1] < 50_000
    boundaries = procedure.plan(sc.Gaussian(SIGMA), 0.001).boundaries
    for tally, boundary in zip(proven, boundaries, strict=False):
        look = boundary.looks.tolist().index(tally.counts.drawn)
        assert tally.counts.votes[1] >= boundary.certify[look]
    assert certificate.tallies[-1].purpose == "stop"


def test_a_grid_proves_what_each_radius_alone_proves():
    """Nested nulls: the same votes, no correction, so radius by radius the verdicts agree."""
    radii = (0.1, 0.2, 0.3)
    for margin in (0.05, 0.15, 0.26, 0.6):
        grid = certify(margin, sc.Sequential(radii=radii, max_samples=20_000, n0=100), seed=3)
        alone = [
            certify(margin, sc.Sequential(radius=r, max_samples=20_000, n0=100), seed=3).is_certified
            for r in radii
        ]
        assert grid.radius == max([r for r, ok in zip(radii, alone, strict=True) if ok], default=0.0)


@pytest.mark.parametrize("radius, separate", [(0.25, False), (0.0625, False), (0.06, True), (0.0, True)])
def test_small_radii_choose_the_class_by_separate_votes(radius, separate):
    for procedure in (sc.Sequential(radius=radius), sc.GroupSequential(radius=radius)):
        phases = [phase.name for phase in procedure.plan(sc.Gaussian(SIGMA), 0.001).phases]
        assert phases == (["select", "estimate"] if separate else ["estimate"])


@pytest.mark.parametrize("radius", [0.0, 0.5 * SIGMA, SIGMA, 2 * SIGMA, 3 * SIGMA])
@pytest.mark.parametrize(
    "make",
    [
        sc.Sequential,
        sc.GroupSequential,
        sc.Staged,
        lambda radius: sc.Sequential(radius=radius, n0=0),
        lambda radius: sc.GroupSequential(radius=radius, n0=0),
    ],
    ids=["sequential", "group", "staged", "sequential-shared", "group-shared"],
)
def test_exact_false_certificates_of_the_schedule_that_is_run(make, radius):
    """Exact, at the largest null probability, for one who never gives up; class choice included."""
    noise, alpha = sc.Gaussian(SIGMA), 0.001
    plan = make(radius=radius).plan(noise, alpha)
    boundary, p0 = plan.boundaries[0], float(norm.cdf(radius / SIGMA))

    def false(p):
        never = np.full_like(boundary.abandon, -1)
        done = operate(Boundary(boundary.looks, boundary.certify, never, boundary.fresh), p)
        return done.certified + done.lost

    wrong_class = 0.0 if plan.selects else false(1 - p0)
    assert false(p0) + wrong_class <= alpha


@pytest.mark.parametrize("name", ["staged", "sequential", "group"])
def test_drawn_votes_agree_with_exact_expectation(name):
    """The dynamic program speaks of the code that runs: mean votes of 300 certifications against it."""
    procedure, margin, times = ALL[name], 1.5 * SIGMA, 300
    classifier = sc.SmoothedClassifier(half_space(margin), LAWS["gaussian"], 2)
    points = np.full((times, 1), CENTRE, dtype=np.float32)
    dataset = sc.Dataset.from_arrays(points, np.ones(times, dtype=np.int64))
    run = sc.certify(classifier, dataset, procedure=procedure, seed=8, workers=1)
    plan = procedure.plan(LAWS["gaussian"], 0.001)
    exact = operate(plan.boundaries[0], float(norm.cdf(1.5)))
    votes = np.asarray(run.column("samples")) - (100 if plan.selects else 0)
    spread = votes.std() / np.sqrt(times)
    assert abs(votes.mean() - exact.expected_votes) < 4 * spread + 1
    certified = run.results.certified_accuracy([SIGMA])[0]
    assert abs(certified - exact.certified) < 4 * np.sqrt(0.25 / times)


def test_an_anytime_radius_is_the_confidence_sequence_at_its_best_look():
    procedure = sc.Sequential(max_samples=20_000)
    certificate = certify(SIGMA, procedure)
    select, bound, stop = certificate.tallies
    assert (select.purpose, bound.purpose, stop.purpose) == ("select", "bound", "stop")
    p_lower = confidence_sequence_lower(int(bound.counts.votes[1]), bound.counts.drawn, 0.001)
    assert certificate.p_lower == p_lower
    assert certificate.radius == sc.Gaussian(SIGMA).radius(p_lower)
    assert bound.counts.drawn <= stop.counts.drawn <= 20_000
    assert 0.85 * SIGMA < certificate.radius < SIGMA


@pytest.mark.parametrize("margin", [0.3, 1.0, 2.0])
def test_an_anytime_radius_stops_when_it_can_grow_no_more(margin):
    """A wide tolerance stops early, and what waiting for the cap would have added is within it."""
    patient = certify(margin * SIGMA, sc.Sequential(max_samples=30_000, tolerance=0.0))
    hasty = certify(margin * SIGMA, sc.Sequential(max_samples=30_000, tolerance=0.05))
    assert hasty.samples < patient.samples
    assert hasty.radius <= patient.radius <= hasty.radius + 0.05
    assert patient.tallies[-1].counts.drawn == 30_000


def test_an_anytime_radius_gives_up_on_even_odds():
    certificate = certify(0.0, sc.Sequential(max_samples=50_000, tolerance=0.05))
    assert (certificate.predicted, certificate.radius) == (None, 0.0)
    assert certificate.samples < 20_000


def test_an_anytime_radius_needs_separate_votes_and_takes_no_target():
    for wrong in ({"n0": 0}, {"radius": 0.5, "tolerance": 0.1}, {"radius": 0.5, "radii": (0.1,)}):
        with pytest.raises(InvalidArgumentError):
            sc.Sequential(**wrong)


def test_prediction_abstains_exactly_when_the_test_says_so():
    classifier = sc.SmoothedClassifier(half_space(0.1 * SIGMA), sc.Gaussian(SIGMA), 2)
    outcomes = set()
    for index in range(30):
        how = {"seed": 2, "index": index, "workers": 1}
        found = classifier.predict(POINT, 500, 0.05, **how)
        plan_counts = _prediction_counts(classifier, index)
        expected = int(plan_counts.argmax()) if binomtest(plan_counts.max(), 500).pvalue <= 0.05 else None
        assert found == expected
        outcomes.add(found)
    assert {None, 1} <= outcomes


def _prediction_counts(classifier, index):
    """Votes of the prediction's stream, drawn directly."""

    from smoothcert.engines import CallableEngine
    from smoothcert.sampling import Chunk, Sampler
    from smoothcert.sampling.phases import CHUNK_VOTES

    sampler = Sampler(
        CallableEngine(classifier.model, 2, torch.zeros(1)), classifier.noise, seed=2, batch_size=64
    )
    sizes = [min(CHUNK_VOTES, 500 - start) for start in range(0, 500, CHUNK_VOTES)]
    chunks = [Chunk(torch.tensor(POINT), index, "predict", k, size) for k, size in enumerate(sizes)]
    return sum(part.votes[0] for part in sampler.draw(chunks))


def test_prediction_is_wrong_at_most_alpha_of_the_time_at_even_odds():
    results = [
        sc.SmoothedClassifier(half_space(0.0), sc.Gaussian(SIGMA), 2).predict(
            POINT, 300, 0.05, seed=5, index=i, workers=1
        )
        for i in range(400)
    ]
    assert sum(answer is not None for answer in results) <= 37  # P(Bin(400, .05) > 37) < 1e-4


def test_the_default_seed_is_secret_and_recorded():
    first, second = certify(SIGMA, ALL["fixed"], seed=None), certify(SIGMA, ALL["fixed"], seed=None)
    assert first.seed != second.seed
    assert first.seed.bit_length() > 64
    again = certify(SIGMA, ALL["fixed"], seed=first.seed)
    assert again.counts == first.counts


def test_another_law_gives_another_norm():
    results = certify_often(
        half_space(0.2), LAWS["laplace"], sc.FixedSample(n=5_000), times=1, alpha=0.001, seed=1
    )
    assert 0.1 < results.radius[0] < 0.2
    classifier = sc.SmoothedClassifier(half_space(0.2), LAWS["uniform"], 2)
    assert classifier.certify(POINT, sc.FixedSample(n=500), workers=1).norm == "l1"


def test_a_table_that_rounding_would_overspend_is_refused():
    with pytest.raises(InvalidArgumentError, match="alpha=1e-60 is too small for a group-sequential table"):
        sc.GroupSequential(radius=0.2, n=1_500).plan(sc.Gaussian(0.25), 1e-60)
