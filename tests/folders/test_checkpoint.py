"""A model folder is read back exactly, is there whole or not at all, and every fault has its sentence."""

import errno
import json
import os

import pytest
import torch
from safetensors.torch import load_file, save_file

from small_networks import small_card
from smoothcert.errors import CheckpointError, StoreError
from smoothcert.folders import ModelCard, load_checkpoint, save_checkpoint
from smoothcert.networks import create_model, weights_digest


def make_card(**changes):
    training = {"seed": 2**127 + 1, "lr": 0.1, "data_dir": None}
    settings = {"mean": (0.25,), "std": (0.5,), "training": training, "metrics": {"loss": 0.1}}
    return small_card(**{**settings, **changes})


def make_model(**changes):
    options = {"num_classes": 10, "mean": (0.25,), "std": (0.5,), **changes}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        return create_model("convnet", **options)


@pytest.fixture
def folder(tmp_path):
    save_checkpoint(make_model(), make_card(), tmp_path / "a" / "b")
    return tmp_path / "a" / "b"


def test_round_trip_is_exact(folder):
    original = make_model()
    original.eval()
    state = torch.random.get_rng_state()
    model, card = load_checkpoint(folder)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert card == make_card(digest=weights_digest(original))
    assert card.training["seed"] == 2**127 + 1
    for name, value in original.state_dict().items():
        assert torch.equal(model.state_dict()[name], value)
        assert model.state_dict()[name].dtype == value.dtype
    batch = torch.rand(16, 1, 8, 8, generator=torch.Generator().manual_seed(3))
    assert torch.equal(model(batch), original(batch))
    assert not any(module.training for module in model.modules())
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", "model.safetensors"]


def test_a_model_is_never_overwritten(folder):
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(CheckpointError, match="already holds a model"):
        save_checkpoint(make_model(), make_card(), folder)
    assert (folder / "model.safetensors").read_bytes() == before


def test_missing_folder_and_foreign_folder(tmp_path):
    with pytest.raises(CheckpointError, match=r"nowhere is not a model folder: it has no model\.json"):
        load_checkpoint(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match="not a model folder"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_weights_cut_short(folder, keep):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match=r"model\.safetensors is cut short or damaged"):
        load_checkpoint(folder)


def test_weights_missing(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"cannot read .*model\.safetensors"):
        load_checkpoint(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', "\xff"])
def test_card_that_is_no_card(folder, text):
    (folder / "model.json").write_text(text, encoding="latin-1")
    with pytest.raises(CheckpointError, match=r"model\.json is damaged"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    "field", sorted(name for name, field in ModelCard.model_fields.items() if field.is_required())
)
def test_card_without_one_of_its_fields(folder, field):
    path = folder / "model.json"
    content = json.loads(path.read_text())
    del content[field]
    path.write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=f"damaged: {field}: Field required"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("format", 2, "damaged: format"),
        ("digest", "0" * 64, "have digest .* but model.json says '0000"),
        ("digest", "", "have digest"),
        ("architecture", "resnet1000", "unknown model 'resnet1000'; known: "),
        ("num_classes", 9, "does not fit architecture 'convnet': .*size mismatch"),
        ("num_classes", 0, "num_classes must be at least 2"),
        ("input_shape", [1, 12, 8], "does not fit architecture 'convnet'"),
        ("mean", [0.5], "normalises by other numbers"),
        ("surprise", 1, "damaged: surprise: Extra inputs"),
    ],
)
def test_edited_card(folder, field, value, message):
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder)


def test_one_changed_weight_breaks_the_digest(folder):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["network.classifier.bias"][0] += 1e-6
    save_file(tensors, path)
    with pytest.raises(CheckpointError, match=r"have digest .* one of the two files was changed"):
        load_checkpoint(folder)


def test_weights_of_another_network(folder):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["network.classifier.bias"]
    save_file(tensors, path)
    with pytest.raises(CheckpointError, match=r"does not fit architecture 'convnet': .*Missing key"):
        load_checkpoint(folder)


def test_a_card_that_does_not_describe_the_model_is_not_saved(tmp_path):
    with pytest.raises(CheckpointError, match="the model to save does not fit"):
        save_checkpoint(make_model(), make_card(num_classes=9), tmp_path / "x")
    with pytest.raises(CheckpointError, match="normalises by other numbers"):
        save_checkpoint(make_model(), make_card(std=(1.0,)), tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("failing_write", [1, 3])  # the second is the folder's own, which may fail
def test_full_disk_leaves_nothing(tmp_path, monkeypatch, failing_write):
    writes = []

    def fsync(descriptor):
        writes.append(descriptor)
        if len(writes) == failing_write:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StoreError, match="No space left on device"):
        save_checkpoint(make_model(), make_card(), tmp_path / "model")
    assert len(writes) == failing_write
    assert list(tmp_path.iterdir()) == []
    save_checkpoint(make_model(), make_card(), tmp_path / "model")  # and there is room again
    load_checkpoint(tmp_path / "model")
