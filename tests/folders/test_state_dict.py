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
        "'2.weight' is (9,), not (10,)",
    ):
        assert part in text
    assert all(torch.equal(net.state_dict()[name], value) for name, value in before.items())


def refusal(module, state):
    with pytest.raises(CheckpointError) as caught:
        fill(module, state, "w.pt")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        ("1.weight", lambda t: (t * 100).to(torch.int8), "'1.weight' is int8, not float32"),
        ("1.weight", torch.Tensor.bool, "'1.weight' is bool, not float32"),
        ("1.weight", lambda t: t * 1j, "'1.weight' is complex64, not float32"),
        ("1.weight", lambda t: t.double() + 1e-12, "'1.weight' is float64, which float32 does not hold"),
        ("1.weight", lambda t: t.double() * 1e300, "'1.weight' is float64, which float32 does not hold"),
        ("2.num_batches_tracked", torch.Tensor.float, "'2.num_batches_tracked' is float32, not int64"),
        ("1.weight", torch.Tensor.to_sparse, "'1.weight' is sparse_coo"),
        ("1.weight", lambda t: t.to("meta"), "'1.weight' has no numbers"),
        (
            "1.weight",
            lambda t: torch.quantize_per_tensor(t, 0.01, 0, torch.qint8),
            "'1.weight' is qint8",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_values_of_another_kind_are_refused_and_change_nothing(net, key, change, words):
    before = {name: value.clone() for name, value in net.state_dict().items()}
    state = {name: value + 1 for name, value in before.items()}
    assert words in refusal(net, state | {key: change(state[key])})
    assert all(torch.equal(net.state_dict()[name], value) for name, value in before.items())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn])
def test_floats_that_are_the_same_numbers_are_taken(net, kind):
    state = {
        name: value.to(torch.float8_e4m3fn).to(kind) if value.is_floating_point() else value
        for name, value in net.state_dict().items()
    }
    fill(net, state, "w.pt")
    assert all(torch.equal(value.double(), state[name].double()) for name, value in net.state_dict().items())


def test_tied_weights_need_the_same_numbers():
    tied = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    tied[1].weight = tied[0].weight
    numbers = torch.rand(3, 3)
    text = refusal(tied, {"0.weight": numbers, "1.weight": -numbers})
    assert "'0.weight'" in text
    assert "shares" in text
    fill(tied, {"0.weight": numbers, "1.weight": numbers.clone()}, "w.pt")
    assert torch.equal(tied[0].weight, numbers)


class Doubles(nn.Linear):
    """A layer that changes what it is given, a copy or the very tensor."""

    def __init__(self, in_place):
        super().__init__(3, 2)
        self.in_place = in_place

    def _load_from_state_dict(self, state_dict, prefix, *more):
        key = f"{prefix}weight"
        state_dict[key] = state_dict[key].mul_(2) if self.in_place else state_dict[key] * 2
        super()._load_from_state_dict(state_dict, prefix, *more)


@pytest.mark.parametrize("in_place", [False, True])
def test_a_module_that_changes_what_it_is_given_is_refused(in_place):
    state = {"weight": torch.ones(2, 3), "bias": torch.ones(2)}
    assert "'weight'" in refusal(Doubles(in_place), state)
    assert torch.equal(state["weight"], torch.ones(2, 3))


class Stubborn(nn.Linear):
    def _load_from_state_dict(self, *given):
        raise RuntimeError("two\nlines")


def test_a_module_that_takes_nothing_is_told_in_one_sentence():
    state = nn.Linear(3, 2).state_dict()
    assert "does not take the weights of w.pt (RuntimeError: two lines)" in refusal(Stubborn(3, 2), state)


def test_weights_without_a_number_are_the_same_where_they_stay(net):
    """What NaN means is said where the network is asked; here nothing was changed."""
    state = {name: value.clone() for name, value in net.state_dict().items()}
    state["1.bias"][0] = torch.nan
    fill(net, state, "w.pt")
    assert net.state_dict()["1.bias"][0].isnan()
