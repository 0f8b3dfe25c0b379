"""Canaries: for every known way to certify what is not true, a naive path that falls for it and ours that does not.

Each naive path is written out here. Exact computation where there is any; else a gap so wide that one seeded run
shows it. Grey pixels under the binary l0 law are in `certificates/test_truth_norms.py`, the same twins over
thousands of runs in `certificates/test_truth.py`.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import binom

import smoothcert as sc
from smoothcert.bounds import clopper_pearson_lower, group_sequential_table, operate, sequential_boundary
from smoothcert.certificates import Tally
from smoothcert.errors import InvalidArgumentError
from smoothcert.rounding import floor_digits
from smoothcert.sampling import Counts, chunk_borders
from smoothcert.store import format_tsv, read_tsv
from truth import CENTRE, PeekingFixedBound, half_space

ALPHA = 0.001
NOISE = sc.Gaussian(0.25)


def certified(model, image, noise=NOISE, n=5_000, **more):
    classifier = sc.SmoothedClassifier(model, noise, 2, **more)
    return classifier.certify(torch.as_tensor(image), sc.FixedSample(n=n), alpha=ALPHA, seed=1, workers=1)


# Weights chosen at the clean centre -------------------------------------------------------------------------------


def member(klass):
    """A member that is sure of one class everywhere."""

    def logits(batch):
        found = torch.zeros(len(batch), 2)
        found[:, klass] = 1.0
        return found

    return logits


def chosen_at(point):
    """Whose vote counts: decided at a point, as w(x) decides at the clean image."""
    return 1 if float(point.flatten()[0]) > CENTRE else 0


def chosen_at_noisy(batch):
    """The same choice, made anew at every noisy image: a function of that alone."""
    right = (batch[:, 0] > CENTRE).float()
    return torch.stack([1 - right, right], dim=1)


def test_weights_chosen_at_the_clean_centre():
    """Naively two images .02 apart are given different classes, each with a radius beyond the other."""
    left, right = torch.tensor([CENTRE - 0.01]), torch.tensor([CENTRE + 0.01])
    naive = [certified(member(chosen_at(image)), image) for image in (left, right)]
    assert [c.predicted for c in naive] == [0, 1]
    assert all(c.radius > 0.02 for c in naive)  # both cannot be true
    ours = [certified(chosen_at_noisy, image, n=100_000) for image in (left, right)]
    assert all(c.radius < 0.02 for c in ours)


def test_weights_that_depend_on_the_image_are_refused():
    """The published form of such an ensemble is kept for comparison, and nothing will certify it."""
    from smoothcert.ensembles.weights.per_input import PerInputEsbrs

    network = torch.nn.Linear(1, 2).eval()
    with pytest.raises(InvalidArgumentError, match="no certificates"):
        sc.SmoothedClassifier(PerInputEsbrs([network, network], NOISE), NOISE, 2)


# Votes filtered by confidence ---------------------------------------------------------------------------------------


def test_votes_filtered_by_confidence():
    """Class 1 is the half-space pulled in by the doubt; leaving doubtful votes out claims the whole of it."""
    margin, doubt = 0.25, 0.1
    truth = margin - doubt
    ours = certified(half_space(margin, doubt), [CENTRE], n=100_000, on_nan="count")
    votes = ours.counts.votes
    naive = NOISE.radius(clopper_pearson_lower(int(votes[1]), int(votes.sum()), ALPHA))
    assert naive > 1.2 * truth
    assert 0.9 * truth < ours.radius <= truth


# Selection votes reused -----------------------------------------------------------------------------------------------


def chance_of_a_false_certificate(n, reuse):
    """At even odds any certificate is false: sum the exact chances of all counts that lead to one."""
    plan = sc.FixedSample(n0=n, n=n).plan(NOISE, 0.05)

    def certifies(select, estimate):
        decision = plan.start()
        for phase, k in (("select", select), ("estimate", estimate)):
            decision.tallies.append(Tally(phase, "bound", Counts(np.array([n - k, k]), n)))
        return decision.verdict().predicted is not None

    counts = np.arange(n + 1)
    law = binom.pmf(counts, n, 0.5)
    if reuse:
        return float(sum(law[k] for k in counts if certifies(k, k)))
    either = [sum(law[k] for k in counts if certifies(first, k)) for first in (0, n)]
    first_leads = float(law[counts * 2 <= n].sum())
    return first_leads * either[0] + (1 - first_leads) * either[1]


def test_selection_votes_reused():
    assert chance_of_a_false_certificate(1_001, reuse=True) > 1.5 * 0.05
    assert chance_of_a_false_certificate(1_001, reuse=False) <= 0.05


# Rounding to nearest in the TSV -------------------------------------------------------------------------------------


def test_rounding_to_nearest_in_the_tsv(tmp_path):
    """Read back, a radius must never be larger than what was proven; to nearest, half of them are."""
    dataset = sc.Dataset.from_arrays(
        np.linspace(0.51, 0.9, 40, dtype=np.float32)[:, None], np.ones(40, dtype=int)
    )
    classifier = sc.SmoothedClassifier(half_space(0.0), NOISE, 2)
    run = sc.certify(classifier, dataset, procedure=sc.FixedSample(n=2_000), seed=1, workers=1)
    proven = np.array(run.column("radius"))
    positive = proven > 0
    naive = np.array([float(f"{radius:.6f}") for radius in proven])
    assert (naive > proven)[positive].mean() > 0.2
    (tmp_path / "run.tsv").write_text(format_tsv(run))
    read, _ = read_tsv(tmp_path / "run.tsv")
    assert (read.radius <= proven).all()
    assert (read.radius >= proven - 1e-6).all()
    assert float(floor_digits(0.9999999)) < 0.9999999 < float(f"{0.9999999:.6f}")


# Looking every batch with a fixed-sample bound ----------------------------------------------------------------------


def test_looking_every_batch_with_a_fixed_sample_bound():
    """Exact chance to certify p0 itself, looked at after every chunk; group-sequential looks are its own."""
    p0, looks = float(NOISE.threshold(0.25)), chunk_borders(5_000)
    naive = PeekingFixedBound(radius=0.25, max_samples=5_000).plan(NOISE, 0.05).boundaries[0]
    assert operate(naive, p0).certified > 3 * 0.05
    assert operate(sequential_boundary(looks, p0, 0.05, 0.05), p0).certified <= 0.05
    assert operate(group_sequential_table(looks, p0, 0.05, 0.05).boundary, p0).certified <= 0.05


def test_every_procedure_pays_for_its_looks():
    """The boundaries that certificates are really made from, at the threshold they claim to exceed."""
    for procedure in (
        sc.Staged(radius=0.25, stages=(100, 1_000, 5_000)),
        sc.Sequential(radius=0.25, max_samples=5_000, n0=100),
        sc.GroupSequential(radius=0.25, n=5_000, n0=100),
    ):
        plan = procedure.plan(NOISE, 0.05)
        assert operate(plan.boundaries[0], plan.thresholds[0]).certified <= 0.05, procedure


# Mantissa bits under float noise ------------------------------------------------------------------------------------


SIDE, SIGMA = 3_072, 0.5  # values of a 32x32 colour image
FINE = 2.0**32  # 1/255 and what it cancels with are multiples of 1/FINE in float32; small noise alone is not


def reads_mantissas(batch):
    """Class 0 where some value near 0 has bits that no sum with 1/255 can have."""
    scaled = batch.double() * FINE
    odd = (scaled != scaled.round()) & (batch.abs() < 2.0**-9)
    seen = odd.any(dim=1).float()
    return torch.stack([seen, 1 - seen], dim=1)


def answers(noise):
    """A certificate at the black image, and PREDICT's answer at its neighbour, 1/255 away in every value."""
    classifier = sc.SmoothedClassifier(reads_mantissas, noise, 2)
    black, neighbour = torch.zeros(SIDE), torch.full((SIDE,), 1 / 255)
    certificate = classifier.certify(black, sc.FixedSample(n=1_000), alpha=ALPHA, seed=1, workers=1)
    return certificate, classifier.predict(neighbour, alpha=ALPHA, seed=2, workers=1)


def test_mantissa_bits_under_float_noise():
    distance = math.sqrt(SIDE) / 255
    naive, there = answers(sc.Gaussian(SIGMA))
    assert naive.predicted == 0
    assert naive.radius > 2 * distance  # certified far beyond the neighbour ..
    assert there == 1  # .. which the same classifier answers otherwise
    ours, there = answers(sc.GridGaussian(SIGMA))
    assert ours.predicted == there or ours.radius < distance


def test_no_function_of_the_bits_tells_neighbours_apart_on_the_grid():
    """Why: noise on the grid only moves with the image, so both see the same images equally often."""
    law = sc.GridGaussian(SIGMA).for_shape((1,))
    drawn = {}
    for level in (0, 1):
        out = torch.empty(200_000, 1)
        law.perturb(torch.tensor([level / 255]), out, torch.Generator().manual_seed(level))
        drawn[level] = {float(value) for value in out.unique() if abs(value) < 1}
    values = sorted(drawn[0] | drawn[1])
    assert all(round(b * 255) - round(a * 255) >= 1 for a, b in pairwise(values))  # one float for each step
    assert drawn[0] == drawn[1]
