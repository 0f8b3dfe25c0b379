"""A recipe may name code as its network; it runs only where the user names it too, and is on record."""

import json
import sys

import pytest
import torch

import smoothcert as sc
from smoothcert.errors import CheckpointError, FactoryError, InvalidArgumentError, ModelOutputError
from smoothcert.networks import weights_digest
from smoothcert.training import load_recipe, recipe_names
from smoothcert.training.own.factory import permitted_module

NET = """
import pathlib
from torch import nn

with pathlib.Path({ran!r}).open("a") as file:
    file.write("x")


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.first, self.head = nn.Linear(64, width), nn.Linear(width, classes)

    def forward(self, batch):
        return self.head(self.first(batch.flatten(1)).relu())


def make(width=8, classes=10):
    return Net(width, classes)


def broken():
    raise ValueError("no such net")


not_callable = 3
"""


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(NET.format(ran=str(tmp_path / "ran")))
    return path


@pytest.fixture
def ran(tmp_path):
    """How often the file was run."""
    return lambda: len((tmp_path / "ran").read_text()) if (tmp_path / "ran").exists() else 0


def config(net, factory="make", **changes):
    return {"model": f"{net}:{factory}", "epochs": 1, "batch_size": 512, "seed": 0, **changes}


def test_a_factory_that_is_named_trains_and_its_folder_names_it(net, tmp_path, ran):
    spec = f"{net}:make"
    card = sc.train(config(net, model_args={"width": 6}), tmp_path / "m", factories=[spec])
    assert ran() > 0
    assert (card.architecture, card.code.factory, card.code.arguments) == ("Net", spec, {"width": 6})
    assert card.training["model"] == spec
    assert card.training["model_args"] == {"width": 6}
    with pytest.raises(CheckpointError, match="no folder runs by itself"):
        sc.load_classifier(tmp_path / "m")
    loaded, again = sc.load_model(tmp_path / "m", factories=[spec])
    assert again == card
    assert weights_digest(loaded) == card.digest
    assert loaded.network.first.weight.shape == (6, 64)
    # the same seed gives the same bits, also where the file is called otherwise
    assert (
        sc.train(config(net, model_args={"width": 6}), tmp_path / "n", factories=[spec]).digest == card.digest
    )


def test_it_is_the_module_that_fit_trains(net, tmp_path):
    spec = f"{net}:make"
    card = sc.train(config(net, normalize=False, holdout="none"), tmp_path / "m", factories=[spec])
    module = sc.load_model(tmp_path / "m", factories=[spec])[0]
    assert (card.mean, card.std) == ((), ())
    classifier = sc.fit(
        lambda: type(module)(8, 10),
        sc.load_dataset("digits", "train", holdout=0),
        noise=sc.Gaussian(0.25),
        epochs=1,
        batch_size=512,
        seed=0,
    )
    assert weights_digest(classifier.model) == card.digest


def test_nothing_runs_without_the_user_s_word(net, tmp_path, ran):
    with pytest.raises(
        InvalidArgumentError, match=r"would run code: its model is .*net.py:make; say that it may"
    ):
        sc.train(config(net), tmp_path / "m")
    with pytest.raises(InvalidArgumentError, match="would run code"):
        sc.train(config(net), tmp_path / "m", factories=["other.py:make"])
    with pytest.raises(InvalidArgumentError, match="would run code"):
        sc.train(config(net, "broken"), tmp_path / "m", factories=[f"{net}:make"])
    with pytest.raises(InvalidArgumentError, match="model 'convnet' is none; leave them out"):
        sc.train({"epochs": 1}, tmp_path / "m", factories=[f"{net}:make"])
    assert ran() == 0
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "factory, arguments, kind, message",
    [
        (
            "broken",
            None,
            FactoryError,
            r"net.py:broken failed in .*net.py, line \d+: ValueError: no such net",
        ),
        ("missing", None, FactoryError, "has no 'missing'"),
        ("not_callable", None, FactoryError, "cannot be called"),
        ("make", {"depth": 3}, FactoryError, "TypeError: .*depth"),
        (
            "make",
            {"classes": 7},
            ModelOutputError,
            r"returned \(16, 7\) of float32 for 16 images of 10 classes",
        ),
        ("pathlib.Path", None, InvalidArgumentError, "module must be a torch module|returned"),
    ],
)
def test_faults_of_a_factory_are_told_in_a_sentence(net, tmp_path, factory, arguments, kind, message):
    spec = f"{net}:{factory}"
    with pytest.raises((kind, FactoryError), match=message):
        sc.train(config(net, factory, model_args=arguments), tmp_path / "m", factories=[spec])
    assert not (tmp_path / "m").exists()
    assert str(tmp_path) not in sys.path


def test_changed_code_is_not_resumed(net, tmp_path):
    class StopError(Exception):
        pass

    def stop(metrics):
        raise StopError

    spec, settings = f"{net}:make", config(net, epochs=2)
    whole = sc.train(settings, tmp_path / "whole", factories=[spec])
    with pytest.raises(StopError):
        sc.train(settings, tmp_path / "m", factories=[spec], on_epoch=stop)
    text = net.read_text()
    net.write_text(text.replace(".relu()", ".tanh()"))
    for out in ("m", "whole"):
        with pytest.raises(CheckpointError, match="another model_code;"):
            sc.train(settings, tmp_path / out, factories=[spec], resume=True)
    net.write_text("# a remark\n" + text)
    assert sc.train(settings, tmp_path / "m", factories=[spec], resume=True).digest == whole.digest


@pytest.mark.parametrize(
    "change, message",
    [
        ({"heads": 2}, "heads=2 are for networks of this package"),
        (
            {"model": "convnet", "model_args": {"width": 1}},
            "model_args are for a factory such as net.py:make",
        ),
        ({"model_args": {"width": [1]}}, "model_args"),
        ({"model": "net.py:make:x y"}, "unknown model"),
        ({"model": "net:"}, "unknown model"),
    ],
)
def test_settings_that_do_not_go_with_a_factory(change, message):
    with pytest.raises((InvalidArgumentError, LookupError), match=message):
        sc.TrainConfig(**{"model": "net.py:make", **change})


def test_no_shipped_recipe_names_code():
    for name in recipe_names():
        recipe = load_recipe(name)
        assert all(recipe.config(model=model).factory is None for model in recipe.networks)


def test_a_recipe_file_names_a_factory_and_runs_nothing_when_it_is_read(net, tmp_path, ran):
    recipe = tmp_path / "mine.yaml"
    text = {
        "about": "mine",
        "base": {"dataset": "digits", "method": "gaussian", "epochs": 1, "batch_size": 512},
        "networks": {f"{net}:make": {"model_args": {"width": 5}}},
        "rows": {"0.25": {}},
    }
    recipe.write_text(json.dumps(text))
    row = load_recipe(str(recipe)).config(seed=0)
    assert (str(row.factory), row.model_args, ran()) == (f"{net}:make", {"width": 5}, 0)
    with torch.random.fork_rng(devices=[]):
        checked, module = permitted_module(row, sc.load_dataset("digits", "train"), [f"{net}:make"])
    assert len(checked.model_code) == 16
    assert module.example.first.weight.shape == (5, 64)
