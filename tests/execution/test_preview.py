"""The cost preview: exact votes at pilot shares, nothing certified, nothing written."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.bounds import operate
from smoothcert.execution import calibrate, expected_votes, preview
from smoothcert.execution.preview import PILOT_VOTES
from truth import CENTRE, half_space

NOISE = sc.Gaussian(0.25)
POINTS = np.full((30, 1), CENTRE, dtype=np.float32)
DATASET = sc.Dataset.from_arrays(POINTS, np.ones(30, dtype=np.int64))


def certification(procedure):
    classifier = sc.SmoothedClassifier(half_space(0.25), NOISE, 2)
    return classifier.certification(
        procedure, alpha=0.001, seed=1, engine="torch", example=DATASET.image(0), images=30
    )


def test_calibration_draws_pilot_votes_and_leaves_torch_as_found():
    before = torch.get_num_threads()
    found = calibrate(certification(sc.FixedSample(n=100)), DATASET, range(30), batch_size=256, seconds=0.0)
    assert found.seconds_per_vote > 0
    assert len(found.shares) == 2  # as many images as fit one batch
    assert torch.get_num_threads() == before
    whole = calibrate(certification(sc.FixedSample(n=100)), DATASET, range(30), batch_size=256, seconds=60.0)
    assert len(whole.shares) == 30
    assert whole.shares.mean() == pytest.approx(0.8413, abs=4 * np.sqrt(0.1334 / (30 * PILOT_VOTES)))


@pytest.mark.parametrize("make", [sc.Sequential, sc.GroupSequential, sc.Staged])
def test_expected_votes_are_exact_at_the_pilot_shares(make):
    plan = make(radius=0.25).plan(NOISE, 0.001)
    shares = np.array([0.6, 0.95])
    by_hand = np.mean([operate(plan.boundaries[0], p).expected_votes for p in shares])
    assert expected_votes(plan, shares) == pytest.approx(by_hand + (100 if plan.selects else 0))


def test_a_preview_names_the_asked_procedure_first_and_its_rivals():
    found = calibrate(certification(sc.FixedSample(n=100)), DATASET, range(30), batch_size=256, seconds=0.0)
    costs = preview(found, sc.GroupSequential(radius=0.25), NOISE, 0.001, images=30)
    assert [cost.procedure for cost in costs] == ["group (asked)", "fixed", "staged", "sequential"]
    assert costs[1].votes_per_image == 100_100
    for cost in costs:
        assert cost.worker_seconds == pytest.approx(cost.votes_per_image * 30 * found.seconds_per_vote)


def test_dry_run_writes_nothing(model_folder, tmp_path, monkeypatch, capsys):
    from smoothcert.cli.app import main

    command = f"smoothcert certify {model_folder} --first 20 --procedure group --radius 0.25 --dry-run"
    monkeypatch.setattr("sys.argv", [*command.split(), "--out", str(tmp_path / "run")])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    assert "group (asked)" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
