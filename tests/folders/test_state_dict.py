"""Weights files of a user's own: every kind that is read, and that reading one never runs code."""

import pickle

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from smoothcert.errors import CheckpointError
from smoothcert.folders.own.state_dict import fill, read_state


@pytest.fixture
def net():
    torch.manual_seed(1)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 10), nn.BatchNorm1d(10)).eval()


def wrapped(state):
    return {"state_dict": state, "epoch": 3, "best": 0.9}


def in_parallel(state):
    return {f"module.{name}": value for name, value in state.items()}


WAYS = {
    "safetensors": lambda state, path: save_file(state, path),
    "torch": torch.save,
    "old torch": lambda state, path: torch.save(state, path, _use_new_zipfile_serialization=False),
    "checkpoint": lambda state, path: torch.save(wrapped(state), path),
    "parallel": lambda state, path: torch.save(in_parallel(state), path),
    "parallel checkpoint": lambda state, path: torch.save(wrapped(in_parallel(state)), path),
    "parallel safetensors": lambda state, path: save_file(in_parallel(state), path),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_kind_fills_the_same_network(tmp_path, net, way):
    WAYS[way](net.state_dict(), tmp_path / "weights")
    other = nn.Sequential(nn.Flatten(), nn.Linear(64, 10), nn.BatchNorm1d(10)).eval()
    fill(other, read_state(tmp_path / "weights"), "weights")
    batch = torch.rand(5, 1, 8, 8)
    assert torch.equal(other(batch), net(batch))


class Hostile:
    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return (open, (str(self.place), "w"))


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_a_file_that_would_run_code_is_refused_and_runs_none(tmp_path, net, new, whole):
    bomb = Hostile(tmp_path / "it-ran")
    content = bomb if whole else {**net.state_dict(), "bomb": bomb}
    torch.save(content, tmp_path / "weights.pt", _use_new_zipfile_serialization=new)
    with pytest.raises(CheckpointError, match="never loaded"):
        read_state(tmp_path / "weights.pt")
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(bomb))
    with pytest.raises(CheckpointError):
        read_state(tmp_path / "plain.pkl")
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.parametrize("way", ["safetensors", "torch", "old torch"])
def test_files_that_are_cut_short_are_refused(tmp_path, net, way):
    WAYS[way](net.state_dict(), tmp_path / "weights")
    content = (tmp_path / "weights").read_bytes()
    for length in (0, 1, 3, 9, 50, len(content) // 2, len(content) - 1):
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(CheckpointError):
            fill(net, read_state(tmp_path / "cut"), "cut")


@pytest.mark.parametrize(
    "content, message",
    [
        ([1, 2], "holds a list, not weights"),
        ({}, "holds a dict, not weights"),
        ({"a": 1}, "holds a int under 'a'"),
        ({"state_dict": {"a": "text"}}, "holds a str under 'a'"),
        (torch.zeros(3), "holds a Tensor, not weights"),
    ],
)
def test_what_holds_no_weights_is_refused(tmp_path, content, message):
    torch.save(content, tmp_path / "weights.pt")
    with pytest.raises(CheckpointError, match=message):
        read_state(tmp_path / "weights.pt")


def test_weights_of_another_network_are_refused_by_their_keys(net):
    state = net.state_dict()
    before = {name: value.clone() for name, value in state.items()}
    changed = {name: value for name, value in state.items() if name != "1.bias"}
    changed["2.weight"] = torch.zeros(9)
    changed |= {f"extra.{number}": torch.zeros(1) for number in range(5)}
    with pytest.raises(CheckpointError) as caught:
        fill(net, changed, "w.pt")
    text = str(caught.value)
    for part in (
        "missing '1.bias'",
        "unknown 'extra.0', 'extra.1', 'extra.2' and 2 more",
        "2.weight is (9,), not (10,)",
    ):
        assert part in text
    assert all(torch.equal(net.state_dict()[name], value) for name, value in before.items())
