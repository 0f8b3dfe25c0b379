"""Folders that name themselves or each other, and ensembles that would be millions of networks."""

import json

import pytest

import smoothcert as sc
from small_networks import save_denoised, save_network
from smoothcert.errors import CheckpointError
from smoothcert.folders import load_model, save_ensemble


@pytest.fixture
def home(tmp_path):
    save_network(tmp_path / "a", 1, class_names=("a", "b"))
    save_denoised(tmp_path / "a", tmp_path / "d")
    save_ensemble([tmp_path / "a"], tmp_path / "e")
    return tmp_path


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("place", [".", "../d"])
def test_a_denoiser_that_names_itself(home, place):
    load_model(home / "d")
    edit(home / "d" / "model.json", lambda card: card["denoised"].update(classifier=place))
    with pytest.raises(CheckpointError, match="is a denoiser itself; name a plain network"):
        sc.load_classifier(home / "d")


def test_a_denoiser_whose_card_was_changed(home):
    edit(home / "d" / "model.json", lambda card: card["denoised"].update(digest="0" * 64))
    with pytest.raises(CheckpointError, match=r"denoiser .* has changed"):
        load_model(home / "d")


def test_ensembles_that_name_each_other(home):
    save_ensemble([home / "e"], home / "f")
    edit(home / "e" / "ensemble.json", lambda card: card["members"][0].update(path="../f"))
    with pytest.raises(CheckpointError, match="is a member of itself"):
        load_model(home / "f")


def test_an_ensemble_of_too_many_networks_is_refused_by_its_cards(home):
    card = json.loads((home / "e" / "ensemble.json").read_text())
    for level in range(12):
        folder = home / f"level-{level}"
        folder.mkdir()
        inner = {"path": f"../level-{level - 1}" if level else "../a", "digest": "0" * 64}
        (folder / "ensemble.json").write_text(json.dumps({**card, "members": [inner, inner]}))
    with pytest.raises(CheckpointError, match="comes to 4,096 networks, and 256 is the most"):
        load_model(home / "level-11")


def test_a_folder_name_that_is_too_long_is_no_folder():
    with pytest.raises(CheckpointError, match="not a model folder"):
        load_model("x" * 5_000)
