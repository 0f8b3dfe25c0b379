"""Circular teaching in the loop: the threshold follows the epoch, a stop changes nothing, two processes are one."""

import json

import pytest

from made_up import write_made_up
from smoothcert.folders import load_checkpoint
from smoothcert.networks import MultiHead
from smoothcert.training import load_recipe, train
from smoothcert.training.objectives.some_gaussian import SomeGaussian

SHORT = {"max_train_images": 300, "batch_size": 200, "seed": 3}


class StopError(Exception):
    pass


def short(method, epochs=3, **changes):
    return load_recipe(f"digits-{method}").config(epochs=epochs, **{**SHORT, **changes})


def test_the_threshold_follows_the_epoch_from_ln_10_to_the_last_value(tmp_path, monkeypatch):
    seen = []
    original = SomeGaussian.threshold_in

    def spy(self, moment, classes):
        seen.append((moment.epoch, moment.epochs, classes, original(self, moment, classes)))
        return seen[-1][-1]

    monkeypatch.setattr(SomeGaussian, "threshold_in", spy)
    train(short("some-gaussian", batch_size=600), tmp_path / "m")
    assert [found[:3] for found in seen] == [(1, 3, 10), (2, 3, 10), (3, 3, 10)]
    assert seen[0][-1] == pytest.approx(2.302585, abs=1e-6)
    assert seen[-1][-1] == pytest.approx(1.2)
    assert seen[0][-1] > seen[1][-1] > seen[2][-1]


@pytest.mark.parametrize("method", ["some-gaussian", "some-consistency", "some-smoothmix"])
def test_a_stopped_training_continues_and_ends_with_the_same_bits(method, tmp_path):
    def stop(metrics):
        if metrics.epoch == 2:
            raise StopError

    config = short(method)
    whole = train(config, tmp_path / "whole")
    with pytest.raises(StopError):
        train(config, tmp_path / "parts", on_epoch=stop)
    card = train(config, tmp_path / "parts", resume=True)
    assert card.digest == whole.digest
    model, _ = load_checkpoint(tmp_path / "parts")
    assert isinstance(model, MultiHead)
    assert (len(model.heads), card.method) == (5, method)


def test_whole_networks_teach_each_other_too(tmp_path):
    train(short("some-gaussian", epochs=1, heads=2, split="100%"), tmp_path / "m")
    model, _ = load_checkpoint(tmp_path / "m")
    assert not list(model.trunk.parameters())
    assert len(model.heads) == 2


def test_two_processes_follow_the_loss_curve_of_one(tmp_path):
    """The cosine penalty is the same in both and must count once."""
    # LeNet has no batch norm, whose statistics are over a process's own rows.
    write_made_up(tmp_path / "data", "mnist", train=240, test=24)
    config = {
        "model": "lenet",
        "dataset": "mnist",
        "data_dir": str(tmp_path / "data"),
        "method": "some-gaussian",
    }
    config |= {"heads": 2, "epochs": 2, "seed": 1, "lr": 0.01, "batch_size": 100}
    parts = []
    for devices in (1, 2):
        train(config, tmp_path / str(devices), devices=devices)
        last = (tmp_path / str(devices) / "metrics.jsonl").read_text().splitlines()[-1]
        parts.append(json.loads(last)["parts"])
    assert parts[1] == pytest.approx(parts[0], rel=1e-5)
    assert parts[0]["cosine"] > 0
