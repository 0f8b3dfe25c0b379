"""Tables and figures of the variance theory show the numbers of the study, and the command prints them."""

import json
import sys

import numpy as np
import pytest
import torch
from PIL import Image

import smoothcert as sc
from smoothcert.cli.app import main
from smoothcert.folders import load_checkpoint, save_checkpoint, save_ensemble
from smoothcert.noise import Laplace
from smoothcert.report.figures.style import figure_svg
from smoothcert.report.figures.variance_figures import (
    first_stage_figure,
    mean_radius_figure,
    success_figure,
    variance_figure,
)
from smoothcert.report.tables.variance_tables import print_variance, variance_to_json
from smoothcert.theory import MemberLogits, radius_law, study_variance, variance_ratio

FILES = ["first_stage.png", "mean_radius.png", "success_over_k.png", "variance_over_k.png"]


def made_up_study(members=4, classes=3, spread=1.0, noise=None):
    rng = np.random.default_rng(6)
    clean = np.linspace(3, 0, classes) + 0.3 * rng.standard_normal((5, members, classes))
    effects = rng.standard_normal((5, 40, 1, classes)) + rng.standard_normal((5, 40, members, classes))
    noisy = clean[:, None] + spread * effects
    answers = noisy.mean(axis=2).argmax(axis=2)
    logits = MemberLogits(clean, noisy, answers, np.zeros(5, dtype=np.int64))
    return study_variance(logits, noise or sc.Gaussian(0.25), {"path": "made/up", "seed": 3})


@pytest.fixture(scope="module")
def study():
    return made_up_study()


def curves(figure):
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in figure.axes[0].lines}


def test_variance_figure_shows_prediction_and_observation(study):
    drawn, part = curves(variance_figure(study)), study.parts["mean"]
    k, model = drawn[f"noise: model, ζp = {part.model.zeta_p:.2f}"]
    assert (k[0], k[-1]) == (1, 4)
    assert model == pytest.approx(variance_ratio(k, part.model.zeta_p))
    assert np.array_equal(drawn["noise: observed"][1], part.ratios.noise)
    assert np.array_equal(drawn["members: observed (k = K by algebra)"][1], part.ratios.clean)


def test_success_figure_is_in_factors_of_failure(study):
    drawn = curves(success_figure(study))
    seen = study.parts["mean"].success.observed.mean(axis=0)
    assert 1 - 10 ** -drawn["observed"][1] == pytest.approx(seen)
    assert len(drawn) == 4
    axes = success_figure(study).axes[0]
    shown = [float(tick.get_text()) / 100 for tick in axes.get_yticklabels()]
    assert len(shown) >= 2
    assert 1 - 10 ** -axes.get_yticks() == pytest.approx(shown)


@pytest.mark.parametrize("spread", [1e-3, 30.0])
@pytest.mark.parametrize("members", [2, 12])
def test_certain_and_hopeless_ensembles_draw(spread, members):
    extreme = made_up_study(members, spread=spread)
    for figure in (variance_figure(extreme), success_figure(extreme)):
        assert figure_svg(figure) == figure_svg(figure)
        for line in figure.axes[0].lines:
            assert np.isfinite(line.get_ydata()).all()


def test_mean_radius_figure_is_the_exact_mean(study):
    lines = [line for line in mean_radius_figure(study.noise).axes[0].lines if len(line.get_xdata()) > 1]
    assert len(lines) == 9
    votes, radius = lines[3].get_xdata(), lines[3].get_ydata()  # p_A = .9
    exact = radius_law(0.9, int(votes[5]), alpha=0.001, noise=study.noise).mean
    assert radius[5] == pytest.approx(exact, abs=1e-15)


def test_first_stage_figure_has_the_needed_probability():
    for noise in (sc.Gaussian(0.25), Laplace(0.2)):
        axes = first_stage_figure(noise).axes[0]
        assert axes.texts[0].get_text() == f"needed: {noise.threshold(noise.std):.3f}"
        chances = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) > 2]
        assert len(chances) == 9
        assert sum(chances[3:6]) == pytest.approx(np.full(601, 100.0))


def test_json_holds_the_numbers_of_the_study(study):
    told = json.loads(json.dumps(variance_to_json(study)))
    assert (told["path"], told["seed"], told["members"], told["k"]) == ("made/up", 3, 4, [1, 2, 3, 4])
    for name, part in study.parts.items():
        row = told["clean_part"][name]
        assert row["zeta_p"] == part.model.zeta_p
        assert (row["zeta"], row["zeta_c"]) == (part.model.both.zeta, part.model.zeta_c)
        assert row["cov_c_p"] == part.model.clean_noise.tolist()
        for key, both in (
            ("c", part.model.clean),
            ("c_images", part.model.images),
            ("p", part.model.noise),
        ):
            assert row[f"sigma_{key}"] == both.intra.tolist()
            assert row[f"inter_{key}"] == both.inter.tolist()
            assert row[f"zeta_{key}"] == np.median(row[f"zeta_{key}_by_class"])
        assert row["success"]["gaussian"] == part.success.gaussian.mean(axis=0).tolist()
    one, longer, several = told["equal_inference"]
    assert several["votes"] * 4 == longer["votes"] == 4 * one["votes"]
    assert one["acr"] < several["acr"]
    grid = told["mean_radius"]
    exact = radius_law(0.9, grid["n"][4], alpha=0.001, noise=study.noise).mean
    assert grid["radius"][grid["p"].index(0.9)][4] == exact
    stage = told["first_stage"]
    assert (stage["name"], stage["radius"], stage["stages"][0]) == ("staged", 0.25, 100)
    total = np.add(np.add(stage["certify"], stage["abstain"]), stage["continue"])
    assert total == pytest.approx(np.ones(601), abs=1e-12)


def test_a_class_that_never_moves_has_no_ratio_and_many_classes_no_matrices():
    rng = np.random.default_rng(1)
    noisy = rng.standard_normal((2, 8, 3, 4)) * [1, 1, 1, 0]
    still = MemberLogits(
        noisy.mean(axis=1), noisy, np.zeros((2, 8), dtype=np.int64), np.zeros(2, dtype=np.int64)
    )
    row = variance_to_json(study_variance(still, sc.Gaussian(0.25)))["clean_part"]["mean"]
    assert row["zeta_p_by_class"][3] is None
    assert row["zeta_p"] == np.median(row["zeta_p_by_class"][:3])
    row = variance_to_json(made_up_study(members=2, classes=101))["clean_part"]["clean"]
    assert [name for name in row if row[name] is None] == [
        "cov_c_p", "sigma_c", "inter_c", "sigma_c_images", "inter_c_images", "sigma_p", "inter_p",
    ]  # fmt: skip
    assert len(row["zeta_c_by_class"]) == 101


def test_table_says_what_it_is(study, capsys):
    print_variance(study)
    text = " ".join(capsys.readouterr().out.split())
    part = study.parts["mean"]
    assert f"{part.model.zeta_p:.3f}" in text
    for place in range(4):
        assert f"{part.success.gaussian[:, place].mean():.3f}" in text
    assert "4 x 100,000 400,000" in text
    assert "Nothing here is a certificate" in text
    assert "zeta_c is -1/3 for any 4 members" in text


@pytest.fixture(scope="module")
def ensemble_folder(model_folder, tmp_path_factory):
    """A trained member and one with its weights moved a little."""
    folder = tmp_path_factory.mktemp("ensembles")
    model, card = load_checkpoint(model_folder)
    random = np.random.default_rng(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.03 * torch.from_numpy(random.standard_normal(weight.shape)).float()
    save_checkpoint(model, card, folder / "moved")
    save_ensemble([model_folder, folder / "moved"], folder / "ensemble")
    return folder / "ensemble"


def run(monkeypatch, capsys, *args):
    monkeypatch.setattr(sys, "argv", ["smoothcert", "analyze", *map(str, args)])
    with pytest.raises(SystemExit) as end:
        main()
    captured = capsys.readouterr()
    return end.value.code or 0, captured.out, captured.err


def test_command_prints_a_table_or_json_and_writes_figures(ensemble_folder, tmp_path, monkeypatch, capsys):
    options = ("--variance", "--images", 3, "--noises", 20, "--seed", 9)
    code, out, err = run(monkeypatch, capsys, ensemble_folder, *options, "--json", "--out", tmp_path / "new")
    assert code == 0, err
    told = json.loads(out)
    assert (told["dataset"], told["split"], told["images"], told["noises"]) == ("digits", "holdout", 3, 20)
    assert told["members"] == 2
    assert 0 < told["clean_part"]["mean"]["zeta_p"] < 1
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == FILES
    for name in FILES:
        with Image.open(tmp_path / "new" / name) as picture:
            assert picture.size[0] >= 1100
    code, table, _ = run(monkeypatch, capsys, ensemble_folder, *options)
    assert code == 0
    assert f"{told['clean_part']['mean']['zeta_p']:.3f}" in table
    assert "seed 9." in table


def test_mistakes_are_one_sentence(model_folder, tmp_path, monkeypatch, capsys):
    save_ensemble([model_folder, model_folder], tmp_path / "twins")
    for args, sentence in (
        ((tmp_path / "twins", "--variance", "--images", "2"), "logits never differ"),
        ((model_folder, "--variance", "--images", "2"), "holds a single model"),
        ((model_folder, model_folder, "--variance"), "--variance takes one ensemble folder"),
        ((model_folder, "--variance", "--split", "half"), "has no split 'half'"),
        ((model_folder, "--noises", "5"), "--noises belongs to --variance"),
        ((model_folder, "--variance", "--seed", "x"), "--seed must be an integer"),
    ):
        code, out, err = run(monkeypatch, capsys, *args)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert sentence in err
