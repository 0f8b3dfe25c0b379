"""Nothing in a checkpoint runs, and every file that is none has its sentence."""

import collections
import io
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from smoothcert.errors import CheckpointError
from smoothcert.folders.checkpoints.content import read_content
from smoothcert.folders.checkpoints.safe_reading import read_tensors_file


class Marking:
    """Unpickled by a careless reader, it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("place", ["beside the weights", "among the weights"])
def test_code_is_refused_and_not_run(tmp_path, legacy, place):
    marker = tmp_path / "was-here"
    weights = {"a": torch.zeros(1)}
    content = {"state_dict": weights, "epoch": Marking(marker)}
    if place == "among the weights":
        content = {"state_dict": weights | {"b": Marking(marker)}}
    torch.save(content, tmp_path / "c.pth", _use_new_zipfile_serialization=not legacy)
    with pytest.raises(CheckpointError, match="could run code; if you trust it"):
        read_content(tmp_path / "c.pth")
    assert not marker.exists()
    torch.load(tmp_path / "c.pth", weights_only=False)  # the file is as bad as it is meant to be
    assert marker.exists()


def test_a_pickled_model_and_a_bare_pickle_are_refused(tmp_path):
    torch.save(torch.nn.Linear(2, 2), tmp_path / "model.pth")
    with pytest.raises(CheckpointError, match=r"names torch\.nn\.modules\.linear\.Linear"):
        read_content(tmp_path / "model.pth")
    marker = tmp_path / "was-here"
    (tmp_path / "bare.pkl").write_bytes(pickle.dumps(Marking(marker), protocol=2))
    with pytest.raises(CheckpointError):
        read_content(tmp_path / "bare.pkl")
    assert not marker.exists()


def test_numpy_numbers_are_passed_over_and_never_made(tmp_path, monkeypatch):
    content = {
        "state_dict": {"a": torch.ones(2)},
        "best_acc": np.float64(0.5),
        "losses": np.arange(3.0),
        "epoch": np.int64(3),
    }
    torch.save(content, tmp_path / "c.pth")
    found = read_content(tmp_path / "c.pth")
    assert found.dropped == ("best_acc", "losses", "epoch")
    assert torch.equal(found.tensors["a"], torch.ones(2))
    torch.save({"state_dict": {"a": np.ones(2)}}, tmp_path / "d.pth")
    with pytest.raises(CheckpointError, match="under 'a' where a plain tensor belongs"):
        read_content(tmp_path / "d.pth")


def test_numpy_cannot_be_led_to_other_names(tmp_path):
    """The stand-ins answer for numbers alone: what a pickle builds into one is thrown away."""
    program = b"\x80\x02cnumpy\ndtype\n(U\x02O8K\x00K\x01tR}(X\x01\x00\x00\x00acposix\nsystem\nub."
    (tmp_path / "c.pkl").write_bytes(program)
    with pytest.raises(CheckpointError):
        read_tensors_file(tmp_path / "c.pkl")


def whole_file(tmp_path, legacy):
    torch.save(
        {"state_dict": {"a": torch.rand(200)}}, tmp_path / "c", _use_new_zipfile_serialization=not legacy
    )
    return (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("legacy", [False, True])
def test_a_file_cut_anywhere_is_refused_in_a_sentence(tmp_path, legacy):
    whole = whole_file(tmp_path, legacy)
    for length in range(0, len(whole) - 1, 97):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match="cut") as refused:
            read_content(tmp_path / "cut")
        assert "weights_only" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\x1f\x8b\x08 packed", "it begins with 1f8b08"),
        (b"just some text that is long enough", "no checkpoint"),
    ],
)
def test_other_files_are_named(tmp_path, content, words):
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(CheckpointError, match=words):
        read_content(tmp_path / "c")


def test_an_archive_of_checkpoints_is_to_be_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as archive:
        archive.writestr("models/checkpoint.pth.tar", b"x")
    with pytest.raises(CheckpointError, match="unpack it"):
        read_content(tmp_path / "models.zip")


def test_a_packed_file_is_not_blown_up(tmp_path):
    whole = whole_file(tmp_path, legacy=False)
    with (
        zipfile.ZipFile(io.BytesIO(whole)) as plain,
        zipfile.ZipFile(tmp_path / "packed", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for part in plain.namelist():
            packed.writestr(part, plain.read(part) if not part.endswith("data/0") else bytes(800))
    with pytest.raises(CheckpointError, match="is packed"):
        read_content(tmp_path / "packed")


def test_folders_and_missing_files_are_refused(tmp_path):
    with pytest.raises(CheckpointError, match="no regular file but a folder"):
        read_content(tmp_path)
    with pytest.raises(CheckpointError, match="cannot read"):
        read_content(tmp_path / "missing")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([1, 2], "no table of weights by name but list"),
        ({}, "no table of weights"),
        ({"weights": {"a": 1}}, "has no net or state_dict among"),
        ({"state_dict": 3}, "no table but int"),
        ({"state_dict": {}}, "no table"),
        ({"state_dict": {1: torch.zeros(1)}}, "under 1"),
        ({"state_dict": {"a": torch.zeros(2).to_sparse()}}, "plain tensor"),
    ],
)
def test_what_holds_no_weights_is_refused(tmp_path, content, words):
    torch.save(content, tmp_path / "c")
    with pytest.raises(CheckpointError, match=words):
        read_content(tmp_path / "c")


def test_safetensors_are_weights_alone(tmp_path):
    save_file({"a": torch.ones(2)}, tmp_path / "c.safetensors")
    found = read_content(tmp_path / "c.safetensors")
    assert (found.holder, found.arch, found.dropped) == (None, None, ())
    assert torch.equal(found.tensors["a"], torch.ones(2))
    whole = (tmp_path / "c.safetensors").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-3])
    with pytest.raises(CheckpointError, match="cut short"):
        read_content(tmp_path / "cut")


def test_an_ordered_table_is_a_table(tmp_path):
    torch.save(collections.OrderedDict(a=torch.ones(1, requires_grad=True)), tmp_path / "c")
    assert list(read_content(tmp_path / "c").tensors) == ["a"]
