"""Noise on the command line: each law by its own options, float-safe noise, and the runner-up."""

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.cli.app import app
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import noise_from

FEW = ["--first", "2", "--n0", "20", "--n", "200", "--engine", "torch", "--workers", "1", "--seed", "3"]


def certified(folder, out, *more):
    outcome = CliRunner().invoke(app, ["certify", str(folder), "--out", str(out), *FEW, *more])
    assert outcome.exit_code == 0, outcome.output
    return sc.Run.open(out)


def test_sound_uses_float_safe_noise_of_the_model_s_sigma(model_folder, tmp_path):
    run = certified(model_folder, tmp_path / "run", "--sound")
    assert run.manifest["noise"] == {"name": "grid-gaussian", "sigma": 0.25, "dimension": 64}
    assert noise_from(run.manifest["noise"]) == sc.GridGaussian(0.25).for_shape((1, 8, 8))
    wider = certified(model_folder, tmp_path / "wider", "--sound", "--sigma", "0.5")
    assert wider.manifest["noise"]["sigma"] == 0.5


def test_l0_noise_by_keep_and_levels(model_folder, tmp_path):
    run = certified(model_folder, tmp_path / "run", "--noise", "discrete", "--keep", "0.9")
    assert run.manifest["noise"] == {"name": "discrete", "keep": 0.9, "levels": 2}
    assert run.manifest["norm"] == "l0"
    assert all(radius == int(radius) for radius in run.column("radius"))
    grey = certified(
        model_folder, tmp_path / "grey", "--noise", "discrete", "--keep", "0.9", "--levels", "17"
    )
    assert grey.manifest["noise"]["levels"] == 17


def test_the_runner_up_by_option(model_folder, tmp_path):
    run = certified(model_folder, tmp_path / "run", "--runner-up")
    assert run.manifest["procedure"]["runner_up"] is True
    assert run.default_results is not None


@pytest.mark.parametrize(
    "more, message",
    [
        (["--keep", "0.9"], "takes no keep"),
        (["--noise", "discrete"], "needs keep"),
        (["--noise", "laplace", "--sound"], "no float-safe form"),
        (["--procedure", "staged", "--radius", "0.1", "--runner-up"], "takes no --runner-up"),
        (["--noise", "discrete", "--keep", "0.9", "--runner-up"], "no radius from the runner-up"),
        (["--noise", "cauchy"], "unknown noise"),
    ],
)
def test_what_does_not_fit_is_refused(model_folder, tmp_path, more, message, smoothcert, refused):
    given = [part for part in FEW if not ("staged" in more and part in ("--n", "200"))]
    assert message in refused(smoothcert("certify", model_folder, "--out", tmp_path / "r", *given, *more))
    assert not (tmp_path / "r").exists()


def test_prediction_takes_the_same_options(model_folder):
    asked = ["predict", str(model_folder), "--indices", "0:2", "--n", "100", "--workers", "1", "--seed", "1"]
    outcome = CliRunner().invoke(app, [*asked, "--sound"])
    assert outcome.exit_code == 0, outcome.output
    outcome = CliRunner().invoke(app, [*asked, "--noise", "discrete", "--keep", "0.9"])
    assert outcome.exit_code == 0, outcome.output


@pytest.mark.parametrize("law", [sc.GridGaussian(0.5), sc.DiscreteReplacement(0.8)])
def test_what_is_sound_already_stays(law):
    assert law.float_safe() is law
    with pytest.raises(InvalidArgumentError, match="uniform"):
        sc.Uniform(1.0).float_safe()
