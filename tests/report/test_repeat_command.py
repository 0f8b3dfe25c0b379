"""The command on the page draws the same votes again."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.cli.app import app
from smoothcert.data import parse_subset
from smoothcert.report.page.repeat_command import indices_text, repeat_command


@pytest.mark.parametrize("options", [
    ["--n", "128", "--n0", "64", "--first", "3"],
    ["--procedure", "sequential", "--radii", "0,0.1,0.25", "--n", "320", "--indices", "1,5,9:12"],
    ["--procedure", "staged", "--radius", "0.1", "--stages", "64,128", "--every", "90"],
    ["--procedure", "group", "--radius", "0.1", "--n", "256", "--first", "2"],
    ["--noise", "uniform", "--sigma", "0.3", "--n", "100", "--first", "2"],
    ["--n", "100", "--runner-up", "--first", "2"],
    ["--noise", "discrete", "--keep", "0.8", "--levels", "256", "--n", "100", "--first", "1"],
    ["--sound", "--n", "64", "--first", "2", "--alpha", "0.01"],
], ids=" ".join)  # fmt: skip
def test_the_same_votes(model_folder, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    words = ["certify", str(model_folder), "--dataset", "digits", *options, "--seed", "7", "--out", "runs/a"]
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    first = sc.Run.open("runs/a")
    command = repeat_command(first)
    name, *words = shlex.split(command)
    assert name == "smoothcert"
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0, again.output
    second = sc.Run.open("a-again")
    assert second.manifest == first.manifest
    without_time = [name for name in first.columns if name != "seconds"]
    assert {name: first.columns[name] for name in without_time} == {
        name: second.columns[name] for name in without_time
    }


def test_what_only_python_can_repeat_has_no_command(classifier, digits):
    assert (
        repeat_command(sc.certify(classifier, digits, indices=[0], procedure=sc.FixedSample(n=64)))
        is not None
    )
    own = sc.Dataset.from_arrays(digits.images[:2], digits.labels[:2], class_names=digits.class_names)
    assert repeat_command(sc.certify(classifier, own, procedure=sc.FixedSample(n=64))) is None


def test_a_place_beyond_the_current_folder_is_told_whole_and_one_inside_as_seen_from_it(
    classifier, digits, model_folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["certify", str(model_folder), "--n", "64", "--first", "1", "--out", "a"])
    assert str(model_folder) in repeat_command(sc.Run.open("a"))
    monkeypatch.chdir(model_folder.parent)
    words = shlex.split(repeat_command(sc.Run.open(tmp_path / "a")))
    assert words[2] == model_folder.name
    assert Path(words[2]).is_dir()


@pytest.mark.parametrize("indices", [
    [0], [0, 1], [0, 1, 2], [5, 7], [0, 20, 40, 60], [0, 1, 2, 10, 20, 30, 31], [3, 4, 5, 9], [1, 2, 4, 8, 16, 17, 18],
])  # fmt: skip
def test_places_are_read_back(indices):
    assert list(parse_subset(indices_text(indices), 100)) == indices
