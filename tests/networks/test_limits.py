"""Giant networks are refused before they are built, whether a person or a card asks for them."""

import json

import pytest

from small_networks import save_network
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import load_checkpoint
from smoothcert.networks import create_model


def save_resnet(folder, **changes):
    save_network(folder, 1, architecture="resnet8", **changes)


@pytest.mark.parametrize(
    "wanted, message",
    [
        ({"num_classes": 10**12}, "num_classes must be at most 262,144"),
        ({"num_classes": 1}, "num_classes must be at least 2"),
        ({"num_classes": "10"}, "num_classes must be at least 2"),
        ({"num_classes": 10, "input_shape": (1, 2**20, 2**20)}, "at most 8 axes and 16,777,216 values"),
        ({"num_classes": 10, "input_shape": (1, 8.0, 8)}, "input_shape must hold positive numbers only"),
        ({"num_classes": 10, "input_shape": ()}, "input_shape must hold positive numbers only"),
        ({"num_classes": 10, "mean": (1e300,)}, "mean must be 1 or 1 finite numbers"),
    ],
)
def test_networks_that_nobody_can_build(wanted, message):
    with pytest.raises(InvalidArgumentError, match=message):
        create_model("convnet", **wanted)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"num_classes": 10**12}, "num_classes must be at most"),
        ({"num_classes": 262_144}, "size mismatch for 'network.classifier.weight'"),
        ({"num_classes": "10"}, "num_classes: Input should be a valid integer"),
        ({"input_shape": [2**23, 1, 2]}, "needs input_shape|size mismatch"),
        ({"input_shape": [1, 10**9, 10**9]}, "input_shape must have at most"),
        ({"heads": 1_000}, "1000 heads in the card, 0 in the weights"),
        ({"noise": {"name": "gaussian"}}, "damaged: noise: noise 'gaussian' lacks its parameter 'sigma'"),
        ({"class_names": ["0"]}, "1 class_names for 10 classes"),
        ({"dataset": {"name": "digits"}}, "damaged: dataset: it must have name and digest"),
        ({"metrics": {"loss": "0.5"}}, "damaged: metrics.loss: Input should be a valid number"),
    ],
)
def test_cards_of_giants_and_of_other_types(tmp_path, change, message):
    save_resnet(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(tmp_path / "m")


def test_heads_are_counted_in_the_weights(tmp_path):
    save_resnet(tmp_path / "m", heads=2)
    load_checkpoint(tmp_path / "m")
    path = tmp_path / "m" / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "heads": 1_000}))
    with pytest.raises(CheckpointError, match="1000 heads in the card, 2 in the weights"):
        load_checkpoint(tmp_path / "m")


def test_a_card_too_large_to_be_read_is_not_written(tmp_path):
    with pytest.raises(CheckpointError, match="a card may have 8,388,608 bytes"):
        save_resnet(tmp_path / "m", training={"note": "x" * 9_000_000})
    assert not (tmp_path / "m").exists()
