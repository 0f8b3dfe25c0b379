"""`train` with a recipe that names code: refused unless the user names the code too."""

import json

import pytest

import smoothcert as sc

NET = """
from torch import nn


def make(width=4):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(NET)
    base = {"dataset": "digits", "method": "gaussian", "epochs": 1, "batch_size": 1097}
    content = {"about": "x", "base": base, "networks": {"net.py:make": {}}, "rows": {"0.25": {}}}
    (tmp_path / "mine.yaml").write_text(json.dumps(content))
    return "mine.yaml"


def test_the_user_s_word_is_needed_and_what_runs_is_said(smoothcert, refused, recipe, caplog):
    said = refused(smoothcert("train", recipe, "--seed", "0", "--out", "m"))
    assert "would run code: its model is net.py:make; say that it may" in said
    assert "--factory net.py:make" in said
    code, _, err = smoothcert("train", recipe, "--seed", "0", "--factory", "net.py:make", "--out", "m")
    assert code == 0, err
    assert caplog.messages == ["running code of your own: net.py:make"]
    card = sc.load_model("m", factories=["net.py:make"])[1]
    assert card.code.factory == "net.py:make"


def test_a_model_named_on_the_command_line_is_the_user_s_word(smoothcert, refused, recipe):
    arguments = ("--epochs", "1", "--set", "batch_size=1097", "--seed", "0")
    code, _, err = smoothcert(
        "train",
        "digits-gaussian",
        *arguments,
        "--model",
        "net.py:make",
        "--set",
        "model_args={width: 3}",
        "--out",
        "m",
    )
    assert code == 0, err
    assert sc.load_model("m", factories=["net.py:make"])[1].code.arguments == {"width": 3}
    said = refused(smoothcert("train", "digits-gaussian", "--factory", "net.py:make", "--out", "n"))
    assert "model 'convnet' is none; leave them out" in said
    said = refused(
        smoothcert("sweep", recipe, "--over", "lr", "--values", "0.1,0.2", "--first", "1", "--out", "s")
    )
    assert "a sweep runs no code" in said


def test_members_of_a_factory_become_an_ensemble(smoothcert, recipe):
    code, _, err = smoothcert("train", recipe, "--factory", "net.py:make", "--members", "2", "--out", "two")
    assert code == 0, err
    ensemble, card = sc.load_model("two/ensemble", factories=["net.py:make"])
    assert len(ensemble.members) == len(card.members) == 2
