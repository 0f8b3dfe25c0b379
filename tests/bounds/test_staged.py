"""CERTIFYADP's boundary where its stages are very short; the published counts are checked with the procedure."""

import pytest

import smoothcert as sc
from smoothcert.bounds import clopper_pearson_lower
from smoothcert.bounds.staged import staged_boundary
from smoothcert.errors import InvalidArgumentError


def test_stages_too_short_to_certify_never_do():
    boundary = staged_boundary((2, 10), 0.84, 0.001, 0.001)
    assert boundary.certify.tolist() == [3, 11]  # one more than all votes
    assert boundary.abandon.tolist()[-1] == -1


def test_a_last_stage_with_which_nothing_is_lost():
    """Theorem 6.1(3): the published counts, and the largest radius (all votes agree) is never below CERTIFY's."""
    assert [sc.Staged.no_loss(100_000, stages, 0.001) for stages in (4, 2)] == [120_069, 110_035]
    noise = sc.Gaussian(1.0)
    for n, stages, alpha in ((100_000, 4, 0.001), (100_000, 2, 0.001), (10_000, 7, 0.05), (1_000, 3, 1e-6)):
        last = sc.Staged.no_loss(n, stages, alpha)
        ours = noise.radius(clopper_pearson_lower(last, last, alpha / stages))
        fewer = noise.radius(clopper_pearson_lower(last - 2, last - 2, alpha / stages))
        certify = noise.radius(clopper_pearson_lower(n, n, alpha))
        assert fewer < certify <= ours
    assert noise.radius(clopper_pearson_lower(120_000, 120_000, 0.001 / 4)) < noise.radius(
        clopper_pearson_lower(100_000, 100_000, 0.001)
    )
    with pytest.raises(InvalidArgumentError, match="alpha"):
        sc.Staged.no_loss(100, 2, 0.0)
