"""The cost preview: images tried by the clock, rivals, a table that fits, nothing certified, nothing written."""

import re

import numpy as np
import pytest
import torch

import smoothcert as sc
from outside import PROCEDURE, PROCEDURE_CODE
from smoothcert.certificates import PROCEDURES
from smoothcert.cli.app import main
from smoothcert.execution import Trial, find_rivals, guiding_plan, preview
from truth import CENTRE, half_space

NOISE = sc.Gaussian(0.25)
POINTS = np.full((30, 1), CENTRE, dtype=np.float32)
DATASET = sc.Dataset.from_arrays(POINTS, np.ones(30, dtype=np.int64))


@pytest.fixture
def trial():
    procedure = sc.GroupSequential(radius=0.1)
    classifier = sc.SmoothedClassifier(half_space(0.25), NOISE, 2)
    bound = classifier.certification(
        procedure, alpha=0.001, seed=1, engine="auto", example=DATASET.image(0), images=30
    )
    return Trial(bound, DATASET, range(30), 256, bound.plan, lambda done, note: None)


def test_a_trial_draws_pilot_votes_and_leaves_torch_as_found(trial):
    before = torch.get_num_threads()
    speed = trial.speed(1, 60.0)
    assert 0 < speed.slowest <= speed.mean <= speed.fastest
    pilot = trial.pilot(speed, 0.0)
    assert len(pilot) == pilot.images == 30
    assert torch.get_num_threads() == before
    share = pilot.leading.sum() / pilot.drawn.sum()
    assert share == pytest.approx(0.8413, abs=4 * np.sqrt(0.1334 / pilot.drawn.sum()))


def test_a_trial_without_time_tries_some_images_nevertheless(trial):
    pilot = trial.pilot(trial.speed(2, 0.0), 0.0)
    assert 1 <= len(pilot) < 30
    assert (pilot.drawn == trial.votes).all()


def test_what_is_tried_does_not_depend_on_workers(trial):
    one = trial.with_other(trial.certification)
    one.speed(1, 60.0)
    two = trial.with_other(trial.certification)
    two.speed(2, 60.0)
    assert np.array_equal(one.counts, two.counts)


def test_rivals_have_the_target_of_what_was_asked():
    rivals = find_rivals(sc.GroupSequential(radius=0.3), NOISE, 0.001)
    assert [rival.label for rival in rivals] == ["group", "fixed", "staged", "sequential"]
    assert rivals[3].options == "--procedure sequential --radius 0.3"
    assert guiding_plan(rivals) is rivals[0].plan


@pytest.mark.parametrize("asked", [sc.FixedSample(n=50), sc.Sequential()])
def test_without_a_target_one_is_proposed(asked):
    rivals = find_rivals(asked, NOISE, 0.001)
    assert rivals[-1].options == "--procedure group --radius 0.25"
    assert guiding_plan(rivals) is rivals[-1].plan
    assert len({rival.label for rival in rivals}) == len(rivals) == 3


def test_a_grid_of_radii_is_compared_by_its_largest():
    rivals = find_rivals(sc.Sequential(radii=(0, 0.25, 0.5)), NOISE, 0.001)
    assert [rival.label for rival in rivals] == ["sequential", "fixed", "staged r=0.5", "group r=0.5"]


def test_procedures_of_other_packages_are_rivals_too_unless_they_are_broken(outside):
    outside.install(PROCEDURE, "hoeffding", PROCEDURE_CODE)
    outside.install(PROCEDURE, "broken", "raise RuntimeError")
    rivals = find_rivals(sc.GroupSequential(radius=0.3), NOISE, 0.001)
    assert [rival.label for rival in rivals] == ["group", "fixed", "hoeffding", "staged", "sequential"]
    assert rivals[2].options == "--procedure hoeffding"
    asked = find_rivals(PROCEDURES["hoeffding"](n=200), NOISE, 0.001)
    assert [rival.label for rival in asked] == ["hoeffding", "fixed", "sequential", "group r=0.25"]


def test_a_preview_has_a_cost_for_each(trial):
    rivals = find_rivals(sc.GroupSequential(radius=0.1), NOISE, 0.001)
    costs = preview(trial.pilot(trial.speed(1, 60.0), 0.0), rivals)
    assert [cost.rival for cost in costs] == rivals
    assert all(cost.votes.low <= cost.votes.mean <= cost.votes.high for cost in costs)
    assert costs[1].votes.low == costs[1].votes.high == 100_100


@pytest.fixture
def dry_run(model_folder, tmp_path, monkeypatch, capsys):
    def run(*options):
        command = [
            "smoothcert",
            "certify",
            str(model_folder),
            "--dry-run",
            "--trial-seconds",
            "0.5",
            *options,
        ]
        monkeypatch.setattr("sys.argv", [*command, "--out", str(tmp_path / "run")])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code == 0
        assert not list(tmp_path.iterdir())
        return capsys.readouterr().out

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", ["--first 20 --procedure group --radius 0.25", "--procedure sequential --radii 0,0.25,0.5"]
)
def test_a_dry_run_prints_ranges_in_eighty_columns_and_writes_nothing(dry_run, options):
    table = dry_run(*options.split()).partition("engine")[0]
    row = next(
        line
        for line in table.splitlines()
        if line.split()[:1] == [options.split("--procedure ")[1].split()[0]]
    )
    assert re.search(r"[\d,]+ +[\d,]+ to [\d,]+ +\d", row)
    assert "…" not in table
    assert max(len(line.rstrip()) for line in table.splitlines()) <= 80


@pytest.mark.slow
def test_a_long_run_is_told_what_would_shorten_it(dry_run):
    out = dry_run("--n", "100000000")
    assert "days" in out
    assert re.search(r"--procedure group --radius 0.25: ", out)
    assert "int8" not in out
