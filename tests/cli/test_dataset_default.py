"""`--dataset` left out: the model's own, or a refusal that says why not."""

import json
import shutil

import pytest

from smoothcert.folders import save_ensemble

FAST = ("--seed", "1", "--engine", "torch", "--workers", "1")


@pytest.fixture
def elsewhere(model_folder, tmp_path):
    """A copy of the model whose card says another data set."""

    def make(name):
        folder = tmp_path / f"from-{name}"
        shutil.copytree(model_folder, folder)
        card = json.loads((folder / "model.json").read_text())
        card["dataset"]["name"] = name
        (folder / "model.json").write_text(json.dumps(card))
        return folder

    return make


def test_the_models_own_is_the_default(smoothcert, model_folder, tmp_path):
    save_ensemble([model_folder, model_folder], tmp_path / "e")
    for number, model in enumerate((model_folder, tmp_path / "e")):
        out = tmp_path / f"run-{number}"
        code, _, err = smoothcert("certify", model, "--first", "2", "--n", "100", *FAST, "--out", out)
        assert code == 0, err
        assert "trained" not in err
    assert smoothcert("predict", model_folder, "--indices", "0:2", "--n", "100", *FAST)[0] == 0


def test_a_data_set_that_is_not_there_is_looked_for(smoothcert, refused, elsewhere, tmp_path):
    model = elsewhere("mnist")
    for command in (("certify", model, "--out", tmp_path / "r"), ("predict", model)):
        assert "mnist" in refused(smoothcert(*command, "--data-dir", tmp_path))


@pytest.mark.parametrize("command", ["certify", "predict", "attack"])
def test_members_that_disagree_and_unknown_names_need_it(
    smoothcert, refused, model_folder, elsewhere, tmp_path, command
):
    save_ensemble([model_folder, elsewhere("mnist")], tmp_path / "e")
    out = () if command == "predict" else ("--out", tmp_path / "r")
    said = refused(smoothcert(command, tmp_path / "e", *out))
    assert "--dataset is needed" in said
    assert "'digits', 'mnist'" in said
    assert "no data set has that name" in refused(smoothcert(command, elsewhere("mine"), *out))


def test_another_data_set_gets_one_line_on_the_command_line(smoothcert, elsewhere, tmp_path, caplog):
    options = ("--dataset", "digits", "--first", "2", "--n", "100", "--sigma", "0.5", *FAST)
    code, _, err = smoothcert("certify", elsewhere("mnist"), *options, "--out", tmp_path / "r")
    assert code == 0, err
    (line,) = [record.getMessage() for record in caplog.records if record.name == "smoothcert"]
    assert "data set digits (trained on mnist)" in line
    assert "sigma 0.5" in line
