"""A damaged state of a training is named with what to do about it, and nothing of it is used."""

import json
import struct

import pytest
import torch
from safetensors.torch import load, save

import smoothcert as sc
from smoothcert.errors import CheckpointError, SmoothcertError

CONFIG = {"epochs": 2, "seed": 5, "batch_size": 256, "max_train_images": 40}


class StopError(SmoothcertError):
    """Stands for a crash."""


def stop(metrics):
    raise StopError("stop")


@pytest.fixture
def home(tmp_path):
    with pytest.raises(StopError):
        sc.train(CONFIG, tmp_path / "m", on_epoch=stop)
    return tmp_path / "m"


def rewrite(home, change_record=None, change_tensors=None):
    path = home / "training.safetensors"
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    record = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["state"])
    tensors = load(content)
    if change_record is not None:
        change_record(record)
    if change_tensors is not None:
        change_tensors(tensors)
    path.write_bytes(save(tensors, {"state": json.dumps(record)}))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda record: record.pop("metrics"), "metrics: Field required"),
        (lambda record: record.update(best_epoch=7), "its best epoch is none"),
        (lambda record: record.update(best_epoch="1"), "best_epoch"),
        (lambda record: record.update(metrics=[]), "best epoch is none of its 0"),
        (lambda record: record["metrics"][0].update(epoch=2), "not those of epochs 1, 2"),
        (lambda record: record["metrics"][0].update(loss="x"), r"metrics\.0\.loss"),
        (lambda record: record["metrics"][0].update(loss=float("nan")), "NaN is no number"),
        (lambda record: record.update(tensors=[]), "its tensors are not those that its record names"),
        (lambda record: record["config"].update(epochs="2"), "more epochs than its training"),
    ],
)
def test_records_that_are_none(home, change, message):
    rewrite(home, change)
    with pytest.raises(
        CheckpointError, match=rf"is damaged \(.*{message}.*\); remove it to train from the start"
    ):
        sc.train(CONFIG, home, resume=True)


@pytest.mark.parametrize("seed", [None, "x", 0.5])
def test_a_state_without_its_seed_is_not_continued_with_another(home, seed):
    rewrite(home, lambda record: record["config"].update(seed=seed))
    with pytest.raises(CheckpointError, match=r"damaged \(it names no seed\)"):
        sc.train({**CONFIG, "seed": None}, home, resume=True)


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("model/network.classifier.bias", torch.zeros(9), "weights are not those of the model"),
        ("best/network.classifier.bias", torch.zeros(10, dtype=torch.float64), "weights are not those"),
        ("optimizer/0/momentum_buffer", torch.zeros(1), "momentum 0/momentum_buffer does not fit its weight"),
        ("optimizer/0/momentum_buffer", None, "tensors are not those"),
        ("optimizer/99/momentum_buffer", torch.zeros(1), "tensors are not those"),
    ],
)
def test_weights_and_momenta_that_do_not_fit(home, name, value, message):
    rewrite(home, None, lambda tensors: tensors.pop(name) if value is None else tensors.update({name: value}))
    with pytest.raises(CheckpointError, match=message):
        sc.train(CONFIG, home, resume=True)


def test_momenta_of_weights_that_are_not_there(home):
    rewrite(
        home,
        lambda record: record["tensors"].append("optimizer/99/momentum_buffer"),
        lambda tensors: tensors.update({"optimizer/99/momentum_buffer": torch.zeros(1)}),
    )
    with pytest.raises(CheckpointError, match="momenta are not those of the optimiser"):
        sc.train(CONFIG, home, resume=True)


def test_a_card_that_tells_of_no_training_is_named(tmp_path):
    sc.train(CONFIG, tmp_path / "m", resume=True)
    path = tmp_path / "m" / "model.json"
    card = json.loads(path.read_text())
    for training in ({**card["training"], "self": 1}, {**card["training"], "epochs": [1]}, {"noise": []}):
        path.write_text(json.dumps({**card, "training": training}))
        with pytest.raises(CheckpointError, match=r"the training that the card in \S+ tells of is none"):
            sc.train(CONFIG, tmp_path / "m", resume=True)
