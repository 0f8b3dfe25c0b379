"""What a run's votes prove beside its stored radii: by the default bound, and in another norm."""

import json

import numpy as np
import pytest
import torch
from scipy.stats import beta, norm
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.cli.app import app
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.report import Summary, print_summaries
from smoothcert.store import read_tsv

SIGMA, N, SHAPE = 0.5, 2_000, (1, 2, 2)


def spread_votes(batch):
    """Ten classes: class 0 below a line through the first pixel, the others by slices of the second."""
    first, second = batch.flatten(1)[:, 0], batch.flatten(1)[:, 1]
    other = 1 + ((second - 0.5).mul(4).add(4.5).floor().clamp(0, 8)).long()
    chosen = torch.where(first < 0.62, torch.zeros_like(other), other)
    return torch.nn.functional.one_hot(chosen, 10).float()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("runs") / "run"
    images = np.full((6, *SHAPE), 0.5, dtype=np.float32)
    images[3:, 0, 0, 0] = 0.75  # class 0 has less than half of the votes
    data = sc.Dataset.from_arrays(images, np.zeros(6, dtype=np.int64), class_names=list("0123456789"))
    classifier = sc.SmoothedClassifier(spread_votes, sc.Gaussian(SIGMA), 10)
    procedure = sc.FixedSample(n=N, runner_up=True)
    sc.certify(classifier, data, procedure=procedure, seed=7, workers=1, out=where)
    return where


def test_the_radius_is_the_formula_on_the_stored_counts(folder):
    run = sc.Run.open(folder)
    assert run.manifest["procedure"] == {"name": "fixed", "n0": 100, "n": N, "runner_up": True}
    for counts, radius, p_lower in zip(
        run.final_counts, run.column("radius"), run.column("p_lower"), strict=True
    ):
        votes, other = int(counts.votes[0]), int(counts.votes[1:].max())
        p = beta.ppf(0.0005, votes, N - votes + 1)
        q = beta.ppf(1 - 0.0005, other + 1, N - other)
        assert p_lower == pytest.approx(p, rel=1e-9)
        assert radius == pytest.approx(SIGMA / 2 * (norm.ppf(p) - norm.ppf(min(q, 1 - p))), rel=1e-6)


def test_the_default_radius_stands_beside_it(folder):
    run = sc.Run.open(folder)
    results, default = run.results, run.default_results
    for place, counts in enumerate(run.final_counts):
        p = beta.ppf(0.001, int(counts.votes[0]), N - int(counts.votes[0]) + 1)
        expected = SIGMA * norm.ppf(p) if p > 0.5 else 0.0
        assert default.radius[place] == pytest.approx(expected, rel=1e-6)
        assert default.predicted[place] == (0 if p > 0.5 else -1)
    assert (results.radius > default.radius).all()
    assert (results.predicted == 0).all()
    assert default.predicted[3:].tolist() == [-1, -1, -1]
    frame = run.to_frame()
    assert frame["radius_default"].tolist() == default.radius.tolist()
    assert frame["predicted_default"].isna().tolist() == [False] * 3 + [True] * 3
    found = Summary.of_run(run).to_json()
    assert found["default"]["abstained"] == 0.5
    assert found["default"]["acr"] < found["acr"]


def test_the_table_shows_both_and_says_what_not_to_do(folder):
    shown = CliRunner().invoke(app, ["analyze", str(folder)]).output
    assert "default" in shown
    assert "would err more often" in shown


def test_a_run_without_runner_up_has_no_second_radius(tmp_path):
    data = sc.Dataset.from_arrays(np.full((1, *SHAPE), 0.5, dtype=np.float32), np.zeros(1, dtype=np.int64))
    run = sc.certify(
        sc.SmoothedClassifier(spread_votes, sc.Gaussian(SIGMA), 10),
        data,
        procedure=sc.FixedSample(n=100),
        workers=1,
    )
    assert run.default_results is None
    assert "radius_default" not in run.to_frame()
    assert "runner_up" not in run.manifest["procedure"]


def test_radii_in_linf_are_those_in_l2_over_the_root_of_the_coordinates(folder):
    run = sc.Run.open(folder)
    derived = run.in_norm("linf")
    np.testing.assert_allclose(derived.results.radius, run.results.radius / 2, rtol=1e-14)
    assert (derived.results.radius < run.results.radius / 2 + 1e-16).all()
    np.testing.assert_allclose(derived.default_results.radius, run.default_results.radius / 2, rtol=1e-14)
    assert (derived.manifest["norm"], derived.manifest["norm_of_noise"]) == ("linf", "l2")
    assert run.manifest["norm"] == "l2"
    assert run.in_norm("l2") is run
    assert derived.in_norm("linf") is derived
    assert run.in_norm("l1").results.radius.tolist() == run.results.radius.tolist()


def test_asked_radii_move_with_the_norm():
    data = sc.Dataset.from_arrays(np.full((1, *SHAPE), 0.5, dtype=np.float32), np.zeros(1, dtype=np.int64))
    classifier = sc.SmoothedClassifier(spread_votes, sc.Gaussian(SIGMA), 10)
    procedure = sc.Sequential(radii=(0, 0.02, 0.04), max_samples=1_000)
    run = sc.certify(classifier, data, procedure=procedure, seed=1, workers=1)
    asked = Summary.of_run(run.in_norm("linf")).asked
    assert asked == pytest.approx((0, 0.01, 0.02), rel=1e-12)
    assert run.manifest["procedure"]["radii"] == [0, 0.02, 0.04]
    found = Summary.of_run(run.in_norm("linf")).to_json()["certified_accuracy"]
    assert len(found) >= 3


def test_commands_give_radii_in_linf_and_say_that_they_are_weak(folder, tmp_path):
    log = tmp_path / "linf.tsv"
    assert CliRunner().invoke(app, ["export", str(folder), "--norm", "linf", "-o", str(log)]).exit_code == 0
    exported, _ = read_tsv(log)
    assert (exported.radius <= sc.Run.open(folder).in_norm("linf").results.radius).all()
    shown = CliRunner().invoke(app, ["analyze", str(folder), "--norm", "linf"]).output
    assert "weak" in shown
    assert "radii in linf (turned from l2" in shown
    answer = CliRunner().invoke(app, ["analyze", str(folder), "--norm", "linf", "--json"]).output
    assert json.loads(answer)[0]["norm"] == "linf"


def test_refusals(folder, tmp_path):
    run = sc.Run.open(folder)
    with pytest.raises(InvalidArgumentError, match="must be one of l1, l2, linf"):
        run.in_norm("l0")
    old = sc.Run("old", {k: v for k, v in run.manifest.items() if k != "input_shape"}, [], [], [])
    with pytest.raises(InvalidArgumentError, match="earlier version"):
        old.in_norm("linf")
    log = tmp_path / "log.tsv"
    log.write_text("idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.5\t1\t0.1\n")
    with pytest.raises(InvalidArgumentError, match="is a log"):
        Summary.of_path(log, "linf")
    with pytest.raises(StoreError, match="there is no"):
        Summary.of_path(tmp_path / "none", "linf")
    with pytest.raises(InvalidArgumentError, match="runner_up must be True or False"):
        sc.FixedSample(runner_up="yes")
    with pytest.raises(InvalidArgumentError, match="no radius from the runner-up"):
        sc.FixedSample(runner_up=True).plan(sc.DiscreteReplacement(0.8), 0.001)


def test_votes_for_no_class_compete_like_one():
    """Class 1 has 45% of the votes, class 0 15%, no class 40%: the lead over the latter is all there is."""

    def model(batch):
        value = batch.flatten(1)[:, 0]
        logits = torch.stack([torch.ones_like(value), (value < 0.5 + SIGMA * norm.ppf(0.45)) * 2.0], dim=1)
        doubt = value > 0.5 + SIGMA * norm.ppf(0.6)
        return torch.where(doubt[:, None], torch.nan, logits)

    classifier = sc.SmoothedClassifier(model, sc.Gaussian(SIGMA), 2, on_nan="count")
    procedure = sc.FixedSample(n0=1_000, n=20_000, runner_up=True)
    certificate = classifier.certify(np.full(1, 0.5), procedure, seed=2, workers=1)
    assert certificate.predicted == 1
    counts = certificate.counts
    assert counts.unanswered > 2 * counts.votes[0]
    truth = SIGMA / 2 * (norm.ppf(0.45) - norm.ppf(0.4))
    assert 0 < certificate.radius < truth
    without = SIGMA / 2 * (norm.ppf(0.45) - norm.ppf(0.15))
    assert certificate.radius < without / 2


def test_radii_are_turned_once_and_by_name(folder, tmp_path):
    run = sc.Run.open(folder)
    turned = run.in_norm("linf")
    with pytest.raises(InvalidArgumentError, match="is in linf already, turned from l2"):
        turned.in_norm("l2")
    with pytest.raises(InvalidArgumentError, match="norm must be one of l1, l2, linf, got 'l3'"):
        run.in_norm("l3")
    assert "norm" not in run.to_frame()
    assert set(turned.to_frame()["norm"]) == {"linf"}
    black = sc.Dataset.from_arrays(np.ones((2, *SHAPE), dtype=np.float32), [0, 0])
    classifier = sc.SmoothedClassifier(spread_votes, sc.DiscreteReplacement(0.8), 10)
    l0 = sc.certify(classifier, black, procedure=sc.FixedSample(n=100), workers=1)
    with pytest.raises(InvalidArgumentError, match="has l0 radii, which cannot be turned into linf ones"):
        l0.in_norm("linf")


def test_the_small_print_says_how_radii_were_turned(tmp_path, capsys):
    data = sc.Dataset.from_arrays(np.full((2, *SHAPE), 0.5, dtype=np.float32), [0, 0])
    classifier = sc.SmoothedClassifier(spread_votes, sc.Uniform(0.4), 10)
    run = sc.certify(classifier, data, procedure=sc.FixedSample(n=100), workers=1)
    print_summaries([Summary.of_run(run.in_norm("linf"), "mine")])
    assert "linf radii are l1 radii divided by the number of coordinates" in capsys.readouterr().out
