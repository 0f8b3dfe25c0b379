"""Decisions of the first stage against exact rational sums, with the published counts."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError
from smoothcert.theory import first_stage

NOISE = sc.Gaussian(0.25)


def exact(p, n, counts):
    return float(sum(comb(n, a) * p**a * (1 - p) ** (n - a) for a in counts))


@pytest.mark.parametrize(
    "p", [Fraction(0), Fraction(3, 4), Fraction(841, 1000), Fraction(9, 10), Fraction(1)]
)
def test_published_counts_of_figure_4(p):
    """Certify at 880 votes of 1,000 or more, give up below 795 (METHODS, CERTIFYADP)."""
    procedure = sc.Staged(radius=0.25, stages=(1_000, 10_000, 125_000), beta=0.0001)
    found = first_stage(float(p), procedure, alpha=0.001, noise=NOISE)
    assert found.certify[0] == pytest.approx(exact(p, 1_000, range(880, 1_001)), abs=1e-12)
    assert found.abstain[0] == pytest.approx(exact(p, 1_000, range(795)), abs=1e-12)
    assert found.go_on[0] == pytest.approx(exact(p, 1_000, range(795, 880)), abs=1e-12)


def test_shape_of_figure_15():
    p = np.linspace(0, 1, 101)
    found = first_stage(p, sc.Staged(radius=0.25), alpha=0.001, noise=NOISE)
    assert found.certify + found.abstain + found.go_on == pytest.approx(np.ones(101), abs=1e-12)
    assert (np.diff(found.certify) >= 0).all()
    assert (np.diff(found.abstain) <= 0).all()
    assert (found.certify[-1], found.abstain[0]) == (1, 1)
    bolder = first_stage(p, sc.Staged(radius=0.25, beta=0.05), alpha=0.01, noise=NOISE)
    assert (bolder.go_on <= found.go_on + 1e-12).all()
    threshold = NOISE.threshold(0.25)
    assert found.certify[p <= threshold].max() <= 0.001 / 4
    assert found.abstain[p >= threshold].max() <= 0.001 / 3


def test_out_of_reach_and_only_stage():
    far = first_stage([0.5, 1.0], sc.Staged(radius=0.75), alpha=0.001, noise=NOISE)
    assert far.certify.tolist() == [0, 0]  # a hundred votes cannot prove three sigma
    assert far.go_on[1] == 1
    tiny = first_stage([0.0], sc.Staged(radius=0.25, stages=(2, 3)), alpha=0.001, noise=NOISE)
    assert (tiny.abstain[0], tiny.go_on[0]) == (0, 1)  # two votes cannot rule it out either
    only = first_stage([0.5, 0.9], sc.Staged(radius=0.25, stages=(500,)), alpha=0.001, noise=NOISE)
    assert only.go_on.tolist() == [0, 0]
    assert only.abstain == pytest.approx(1 - only.certify)
    with pytest.raises(InvalidArgumentError, match=r"probabilities in \[0, 1\]"):
        first_stage([1.2], sc.Staged(radius=0.25), alpha=0.001, noise=NOISE)
