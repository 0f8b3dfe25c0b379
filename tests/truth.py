"""Classifiers whose smoothed truth is known in closed form, and procedures that are known to be unsound.

A half-space in one dimension at distance `margin` from the image: under each of the three laws the class
probability is the law's distribution function at the margin, and the true radius is the margin itself.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from scipy.stats import binom, laplace, norm, uniform
from torch import nn

import smoothcert as sc
from smoothcert.bounds import Boundary, clopper_pearson_lower, operate
from smoothcert.bounds.boundary import first_true
from smoothcert.certificates.boundary_plan import BoundaryPlan
from smoothcert.certificates.certificate import Verdict
from smoothcert.certificates.procedure import Plan, Procedure
from smoothcert.certificates.procedures.fixed import _FixedDecision, _FixedPlan
from smoothcert.sampling import Phase, chunk_borders

CENTRE = 0.5
LAWS = {
    "gaussian": sc.Gaussian(0.25),
    "uniform": sc.Uniform(half_width=0.4),
    "laplace": sc.Laplace(scale=0.2),
}
DISTRIBUTIONS = {
    "gaussian": norm(scale=0.25).cdf,
    "uniform": uniform(loc=-0.4, scale=0.8).cdf,
    "laplace": laplace(scale=0.2).cdf,
}

TIMES, ALPHA, N = 2_000, 0.05, 2_500
JUST_ABOVE, WELL_BELOW = 1.002, 0.8
MARGINS = {"gaussian": 0.25, "uniform": 0.2, "laplace": 0.2}
UNTARGETED = {
    "fixed": sc.FixedSample(n=N),
    "anytime": sc.Sequential(max_samples=2 * N, beta=0.05, tolerance=0.005),
}
TARGETED = {
    "staged": lambda r: sc.Staged(radius=r, stages=(200, 1_000, N), beta=0.05),
    "sequential": lambda r: sc.Sequential(radius=r, max_samples=N, beta=0.05),
    "sequential-n0": lambda r: sc.Sequential(radius=r, max_samples=N, beta=0.05, n0=100),
    "sequential-grid": lambda r: sc.Sequential(radii=(0, r / 2, r), max_samples=N, beta=0.05),
    "group": lambda r: sc.GroupSequential(radius=r, n=N, beta=0.05),
}


def errors(results, margin):
    """Certificates that claim more than the truth: another class, or a radius beyond the margin."""
    claims = results.predicted >= 0
    return int((claims & ((results.predicted != 1) | (results.radius > margin))).sum())


def half_space(margin, doubt=0.0):
    """Class 1 where the value exceeds CENTRE - margin; NaN logits where it is nearer than `doubt` to that."""

    def model(batch):
        score = batch.reshape(len(batch), -1)[:, 0] - (CENTRE - margin)
        logits = torch.stack([-score, score], dim=1)
        return torch.where(score.abs().unsqueeze(1) < doubt, torch.nan, logits) if doubt else logits

    return model


def images_on_a_line(shape=(2,), count=12, class_names=("left", "right")):
    """Return images whose first pixel crosses the border of `half_space(0.0)`; the last has the wrong label."""
    images = np.full((count, *shape), 0.5, dtype=np.float32)
    images.reshape(count, -1)[:, 0] = np.linspace(0.05, 0.95, count)
    labels = (np.arange(count) >= count // 2).astype(int)
    labels[-1] = 0  # certified with ease as something else
    return sc.Dataset.from_arrays(images, labels, class_names=list(class_names))


class HalfSpace(nn.Module):
    """`half_space` as a module whose border is among its weights, the more certain the steeper."""

    def __init__(self, margin, slope=1.0):
        super().__init__()
        self.margin, self.slope = margin, slope
        self.register_buffer("border", torch.tensor(float(CENTRE - margin)))

    def forward(self, batch):
        score = batch.reshape(len(batch), -1)[:, 0] - self.border
        return self.slope * torch.stack([-score, score], dim=1)


def run_often(model, noise, procedure, *, times, alpha, seed, on_nan="raise"):
    """Certify the same point `times` times with independent noise; return the run."""
    classifier = sc.SmoothedClassifier(model, noise, 2, on_nan=on_nan)
    points = np.full((times, 1), CENTRE, dtype=np.float32)
    dataset = sc.Dataset.from_arrays(points, np.ones(times, dtype=np.int64))
    return sc.certify(classifier, dataset, procedure=procedure, alpha=alpha, seed=seed, workers=1)


def certify_often(model, noise, procedure, **how):
    """Return the results of `run_often`."""
    return run_often(model, noise, procedure, **how).results


def certificates_often(model, noise, procedure, **how):
    """Return class, radius, votes by class and number of votes of each of the certificates of `run_often`."""
    run = run_often(model, noise, procedure, **how)
    counts = [(one.votes.tolist(), one.drawn) for one in run.final_counts]
    return list(zip(run.results.predicted.tolist(), run.results.radius.tolist(), counts, strict=True))


def assert_votes_of_the_half_space(model, margin, noise, procedure, **how):
    """Check that a model's certificates are, vote by vote, those of the half-space whose truth is known."""
    assert certificates_often(model, noise, procedure, **how) == _of_half_space(
        margin, noise, procedure, **how
    )


@cache
def _of_half_space(margin, noise, procedure, **how):
    return certificates_often(half_space(margin), noise, procedure, **how)


def exact_chance(procedure, noise, p, alpha=ALPHA):
    """Chance that a procedure certifies the largest of its radii where the class has probability p; no sampling."""
    (*_, boundary) = procedure.plan(noise, alpha).boundaries
    return operate(boundary, p).certified


def most_errors(times, alpha):
    """Errors that a procedure of level alpha exceeds once in ten thousand such tests."""
    return int(binom.isf(1e-4, times, alpha))


@dataclass(frozen=True)
class ReusedVotes(Procedure):
    """Unsound: the votes that bound the class also choose it (n0 = n, the same votes)."""

    n: int

    def plan(self, noise, alpha):
        plan = _FixedPlan(noise, alpha, (Phase("estimate", (self.n,)),))

        class Reached(_FixedDecision):
            def absorb(self, look, counts):
                super().absorb(0, counts)
                return super().absorb(0, counts) or True  # once as selection, once as estimate

        return _WithDecision(plan, Reached)


@dataclass(frozen=True)
class FilteredVotes(Procedure):
    """Unsound: votes without a confident answer are left out of the denominator."""

    n: int

    def plan(self, noise, alpha):
        plan = sc.FixedSample(n=self.n).plan(noise, alpha)

        class Reached(_FixedDecision):
            def verdict(self):
                chosen, estimate = self.tallies[0].counts.top, self.tallies[1].counts
                p = clopper_pearson_lower(int(estimate.votes[chosen]), int(estimate.votes.sum()), alpha)
                outcome = sc.Outcome.CERTIFIED if p > 0.5 else sc.Outcome.NO_MAJORITY
                return Verdict(outcome, chosen, noise.radius(p), p, tuple(self.tallies))

        return _WithDecision(plan, Reached)


@dataclass(frozen=True)
class PeekingFixedBound(Procedure):
    """Unsound: a fixed-sample bound, looked at after every chunk."""

    radius: float
    max_samples: int

    def plan(self, noise, alpha):
        looks, p0 = chunk_borders(self.max_samples), noise.threshold(self.radius)
        n = np.asarray(looks)
        nowhere = np.full(n.shape, -1)
        certify = first_true(
            lambda k: clopper_pearson_lower(np.minimum(k, n), n, alpha) > p0, nowhere.copy(), n + 1
        )
        phases = (Phase("select", (100,)), Phase("estimate", looks))
        return BoundaryPlan(phases, (self.radius,), (p0,), (Boundary(n, certify, nowhere),))


class _WithDecision(Plan):
    """A plan with another kind of decision."""

    def __init__(self, plan, kind):
        self.plan, self.kind, self.phases = plan, kind, plan.phases

    def start(self):
        return self.kind(self.plan)
