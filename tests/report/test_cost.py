"""Cost figures against sums written out by hand."""

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.report import Summary, returned_by_phase, sample_reduction, time_reduction
from truth import CENTRE, half_space


@pytest.fixture(scope="module")
def run():
    """Images from hopeless to easy, staged: some end in each stage."""
    margins = np.linspace(0, 0.6, 40)
    points = (CENTRE - 0.3 + margins[:, None]).astype(np.float32)
    classifier = sc.SmoothedClassifier(half_space(0.3), sc.Gaussian(0.25), 2)
    dataset = sc.Dataset.from_arrays(points, np.ones(40, dtype=np.int64))
    return sc.certify(
        classifier, dataset, procedure=sc.Staged(radius=0.25, stages=(100, 1_000)), seed=2, workers=1
    )


def test_sample_reduction_counts_the_class_choice_on_both_sides(run):
    votes = [n - 100 for n in run.column("samples")]
    assert sample_reduction(run) == pytest.approx((100 + 100_000) / (100 + np.mean(votes)))


def test_shares_by_stage_add_up(run):
    shares = returned_by_phase(run)
    assert set(shares) == {"stage-1", "stage-2"}
    assert sum(sum(share.values()) for share in shares.values()) == pytest.approx(1)
    first = [n == 200 for n in run.column("samples")]
    certified = [outcome == "CERTIFIED" for outcome in run.column("outcome")]
    assert shares["stage-1"]["certified"] == np.mean([f and c for f, c in zip(first, certified, strict=True)])
    assert shares["stage-1"]["abandoned"] == np.mean(
        [f and not c for f, c in zip(first, certified, strict=True)]
    )
    assert shares["stage-2"]["certified"] > 0


def test_time_reduction_is_a_ratio_of_means(run):
    assert time_reduction(run, run) == 1
    told = Summary.of_run(run).to_json()
    assert told["sample_reduction"] == sample_reduction(run)
    assert told["returned_by_phase"] == returned_by_phase(run)
