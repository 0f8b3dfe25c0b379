"""`train` and the listings on the command line."""

import json

import pytest

import smoothcert as sc
from smoothcert.cli.train import chosen_config
from smoothcert.models import load_checkpoint
from smoothcert.training import OBJECTIVES, recipe_names

SHORT = ("--epochs", "1", "--set", "batch_size=600")


def test_train_writes_a_model_that_certifies(smoothcert, tmp_path):
    out = tmp_path / "m"
    code, said, err = smoothcert("train", "digits-gaussian", *SHORT, "--seed", "3", "--out", out)
    assert code == 0, err
    assert "epoch 1: loss" in err
    assert str(out) in said
    _, card = load_checkpoint(out)
    assert card.training["recipe"] == "digits-gaussian"
    assert (card.training["epochs"], card.training["recipe_epochs"]) == (1, 20)
    assert card.training["seed"] == 3
    image = sc.load_dataset("digits").image(0)
    assert sc.load_classifier(out).certify(image, sc.FixedSample(n=100)).samples == 200
    again = smoothcert("train", "digits-gaussian", *SHORT, "--seed", "3", "--out", out)
    assert again[0] == 0
    assert "epoch 1: loss" not in again[2]  # done already


def test_every_value_can_be_changed(tmp_path):
    changes = ["lbd=7", "eta=1e-1", "lr=0.05", "schedule=step", "milestones=[2, 4]", "nesterov=true"]
    config = chosen_config("digits-consistency", 0.5, "convnet", None, changes)
    assert (config.settings["lbd"], config.settings["eta"], config.lr) == (7, 0.1, 0.05)
    assert (config.schedule, config.milestones, config.nesterov) == ("step", (2, 4), True)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["digits-gausian"], "unknown recipe 'digits-gausian'; did you mean digits-gaussian"),
        (["digits-gaussian", "--sigma", "0.3"], "has no row for sigma 0.3; it has 0.25, 0.5"),
        (["digits-gaussian", "--model", "nonesuch"], "unknown model 'nonesuch'"),
        (["digits-gaussian", "--set", "lbd=1"], "--set takes NAME=VALUE, got 'lbd=1'; names: "),
        (["digits-gaussian", "--set", "lr"], "--set takes NAME=VALUE, got 'lr'"),
        (["digits-gaussian", "--set", "lr=-1"], "'lr' is wrong"),
        (["digits-consistency", "--set", "lbd=-1"], "lbd must be"),
        (["digits-consistency", "--set", "m=1"], "m must be"),
        (["digits-gaussian", "--epochs", "0"], "'epochs' is wrong"),
        (["digits-gaussian", "--max-train-images", "0"], "'max_train_images' is wrong"),
        (["digits-gaussian", "--devices", "0"], "devices must be a positive integer, got 0"),
        (["digits-gaussian", "--accelerator", "tpu"], "accelerator must be"),
        (["digits-gaussian", "--seed", "x"], "--seed must be an integer"),
        (["mnist-gaussian"], "mnist"),
        (["cifar10-gaussian", "--data-dir", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, smoothcert, refused, tmp_path):
    assert sentence in refused(smoothcert("train", *arguments, "--out", tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_listings_tell_what_there_is(smoothcert):
    code, out, _ = smoothcert("models", "resnet110")
    assert code == 0
    assert "1,730,714" in out
    assert "506,299,648" in out
    listed = {what: json.loads(smoothcert(what, "--json")[1]) for what in ("methods", "datasets")}
    assert [row["name"] for row in listed["methods"]] == list(OBJECTIVES)
    assert {row["name"]: row["hyper-parameters"] for row in listed["methods"]}["gaussian"] == 0
    assert {"digits", "cifar100", "svhn", "imagenet"} <= {row["name"] for row in listed["datasets"]}


def test_recipes_are_listed_with_their_cost(smoothcert):
    code, out, _ = smoothcert("recipes", "mnist-smoothadv", "--json")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)}
    assert set(rows) == {name for name in recipe_names() if "mnist-smoothadv" in name}
    assert rows["mnist-smoothadv"]["parameters"] == 431_080
    assert rows["mnist-smoothadv"]["passes per image"] > 20  # T = 10, m = 4
    assert "lenet" in smoothcert("recipes", "mnist-smoothadv")[1]
