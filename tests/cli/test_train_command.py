"""`train` and the listings on the command line."""

import json

import pytest

import smoothcert as sc
from smoothcert.cli.options import chosen_config
from smoothcert.folders import load_checkpoint
from smoothcert.training import OBJECTIVES, load_recipe, recipe_names

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


def test_train_gives_a_network_heads(smoothcert, tmp_path):
    out = tmp_path / "m"
    code, said, err = smoothcert(
        "train", "digits-gaussian", *SHORT, "--heads", "3", "--split", "stage3", "--out", out
    )
    assert code == 0, err
    assert "convnet with 3 heads" in said
    model, card = load_checkpoint(out)
    assert (card.heads, card.split, len(model.heads)) == (3, "stage3", 3)
    image = sc.load_dataset("digits").image(0)
    assert sc.load_classifier(out).certify(image, sc.FixedSample(n=100)).evaluations == 3 * 200


def test_every_value_can_be_changed(tmp_path):
    changes = ["lbd=7", "eta=1e-1", "lr=0.05", "schedule=step", "milestones=[2, 4]", "nesterov=true"]
    config = chosen_config("digits-consistency", 0.5, "convnet", None, changes)
    assert (config.settings["lbd"], config.settings["eta"], config.lr) == (7, 0.1, 0.05)
    assert (config.schedule, config.milestones, config.nesterov) == ("step", (2, 4), True)
    config = chosen_config("digits-consistency", 0.5, "resnet8", None, ["heads=5", "split=34%"])
    assert (config.heads, config.split) == (5, "34%")
    taught = chosen_config(
        "digits-gaussian", None, None, None, ["method=some-gaussian", "heads=5", "weights=hard"]
    )
    assert (taught.method, taught.heads, taught.settings) == ("some-gaussian", 5, {"weights": "hard"})


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["digits-gausian"], "unknown recipe 'digits-gausian'; did you mean digits-gaussian"),
        (["digits-gaussian", "--sigma", "0.3"], "has no row for sigma 0.3; it has 0.25, 0.5"),
        (["digits-gaussian", "--model", "nonesuch"], "unknown model 'nonesuch'"),
        (["digits-gaussian", "--set", "lbd=1"], "--set knows no 'lbd'; names: "),
        (["digits-gaussian", "--set", "lr"], "--set takes NAME=VALUE, got 'lr'"),
        (["digits-gaussian", "--set", "lr=-1"], "'lr' is wrong"),
        (["digits-consistency", "--set", "lbd=-1"], "lbd must be"),
        (["digits-consistency", "--set", "m=1"], "m must be"),
        (["digits-gaussian", "--epochs", "0"], "'epochs' is wrong"),
        (["digits-gaussian", "--max-train-images", "0"], "'max_train_images' is wrong"),
        (["digits-gaussian", "--devices", "0"], "devices must be an integer from 1 to"),
        (["digits-gaussian", "--devices", "9999"], "devices must be an integer from 1 to"),
        (["digits-gaussian", "--accelerator", "tpu"], "accelerator must be"),
        (["digits-gaussian", "--set", "lr=["], "'lr' is wrong"),
        (["digits-gaussian", "--set", "nesterov=true", "--set", "momentum=0"], "nesterov needs momentum"),
        (
            ["digits-gaussian", "--set", "epochs=2", "--epochs", "3"],
            "--epochs and --set epochs=.. are both given",
        ),
        (["digits-gaussian", "--set", "batch_size=1", "--devices", "2"], "batch_size=1 is less than"),
        (["digits-smoothadv", "--set", "m=1000"], "use at least 1000"),
        (["digits-gaussian", "--seed", "x"], "--seed must be an integer"),
        (["digits-gaussian", "--heads", "0"], "'heads' is wrong"),
        (
            ["digits-gaussian", "--set", "method=some-gaussian"],
            "needs 2 heads or more, got heads=None; set heads=5",
        ),
        (["digits-some-gaussian", "--heads", "1"], "needs 2 heads or more, got heads=1; set heads=5"),
        (["digits-gaussian", "--split", "stage3"], "split='stage3' says where heads begin"),
        (["digits-gaussian", "--heads", "2", "--split", "stage9"], "heads can begin before: stage1, stage2"),
        (["digits-gaussian", "--heads", "2", "--split", "normalize"], "leaves no trunk"),
        (["digits-gaussian", "--heads", "2", "--split", "120%"], 'from "0%" to "100%"'),
        (["mnist-gaussian"], "mnist"),
        (["cifar10-gaussian", "--data-dir", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, smoothcert, refused, tmp_path):
    assert sentence in refused(smoothcert("train", *arguments, "--out", tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_sigma_model_method_and_epochs_can_be_set_too():
    config = chosen_config("digits-gaussian", None, None, None, ["sigma=0.3", "epochs=5", "model=resnet8"])
    assert (config.sigma, config.epochs, config.recipe_epochs, config.model) == (0.3, 5, 20, "resnet8")
    other = chosen_config("digits-consistency", None, None, None, ["method=macer", "lbd=1", "m=4"])
    assert (other.method, other.settings) == ("macer", {"lbd": 1, "m": 4})


def test_a_rerun_and_a_stop_are_told(smoothcert, tmp_path, monkeypatch):
    command = ("train", "digits-gaussian", *SHORT, "--seed", "3", "--out", tmp_path / "m")

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("smoothcert.training.train", interrupted)
        code, _, err = smoothcert(*command)
    assert code == 130
    assert "stopped; the same command continues" in err
    assert smoothcert(*command)[0] == 0
    assert "is trained already" in smoothcert(*command)[2]


def test_a_listing_of_nothing_is_a_mistake(smoothcert, refused):
    assert "the name of no recipe contains 'nosuch'" in refused(smoothcert("recipes", "nosuch"))


def test_listings_tell_what_there_is(smoothcert):
    code, out, _ = smoothcert("models", "resnet110")
    assert code == 0
    assert "1,730,714" in out
    assert "253,149,824" in out
    listed = {what: json.loads(smoothcert(what, "--json")[1]) for what in ("methods", "datasets")}
    assert [row["name"] for row in listed["methods"]] == list(OBJECTIVES)
    assert {row["name"]: row["hyper-parameters"] for row in listed["methods"]}["gaussian"] == 0
    assert {"digits", "cifar100", "svhn", "imagenet"} <= {row["name"] for row in listed["datasets"]}


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_sources_and_deviations_are_printed_whole_and_fit_the_terminal(smoothcert, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = smoothcert("recipes", "--sources")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= min(columns, 100)
    assert lines[0].startswith(f"{len(recipe_names())} recipes: ")
    blocks = out.split("\n\n")[1:]
    assert [block.split("\n")[0] for block in blocks] == list(recipe_names())
    for block in blocks:
        name, text = block.split("\n", 1)
        recipe = load_recipe(name)
        assert " ".join(text.split()) == f"source: {recipe.source} deviation: {recipe.deviation}"


def test_sources_can_be_narrowed_and_are_in_the_json(smoothcert, refused):
    out = smoothcert("recipes", "--sources", "cifar10-advmacer")[1]
    assert out.startswith("1 recipe: ")
    assert "AdvMacer paper, Tables 1, 2 and 5 to 7" in out
    assert smoothcert("recipes", "digits-advmacer")[1].startswith("1 recipe\n")
    assert "--set fresh_noise=true" in " ".join(out.split())
    for options in (["--json"], ["--json", "--sources"]):
        rows = json.loads(smoothcert("recipes", *options)[1])
        assert {row["name"]: (row["source"], row["deviation"]) for row in rows} == {
            name: (load_recipe(name).source, load_recipe(name).deviation) for name in recipe_names()
        }
    assert "the name of no recipe contains 'nosuch'" in refused(smoothcert("recipes", "--sources", "nosuch"))


def test_recipes_are_listed_with_their_cost(smoothcert):
    code, out, _ = smoothcert("recipes", "mnist-smoothadv", "--json")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)}
    assert set(rows) == {name for name in recipe_names() if "mnist-smoothadv" in name}
    assert rows["mnist-smoothadv"]["parameters"] == 431_080
    assert rows["mnist-smoothadv"]["passes per image"] > 20  # T = 10, m = 4
    assert "lenet" in smoothcert("recipes", "mnist-smoothadv")[1]


def test_train_in_bfloat16_says_so(smoothcert, tmp_path):
    out = tmp_path / "m"
    code, said, err = smoothcert(
        "train", "digits-gaussian", *SHORT, "--precision", "bf16-mixed", "--seed", "3", "--out", out
    )
    assert code == 0, err
    assert "method gaussian, in bf16-mixed" in said
    assert load_checkpoint(out)[1].training["precision"] == "bf16-mixed"
    code, _, err = smoothcert("train", "digits-gaussian", "--precision", "int8", "--out", tmp_path / "n")
    assert code == 2
    assert "'32-true' or 'bf16-mixed', got 'int8'" in err
