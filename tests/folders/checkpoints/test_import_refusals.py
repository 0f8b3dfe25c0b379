"""What contradicts itself, or leaves something open: one sentence, and nothing is written."""

import hashlib
import os
import re
from pathlib import Path

import pytest
import torch
from torch import nn

import smoothcert as sc
from published_networks import Denoiser, LeNet, Normalise, SmallLeNet, cifar_resnet, drawn
from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError, UnknownNameError
from smoothcert.folders.checkpoints import FAMILIES
from smoothcert.networks import DENOISERS, MODELS

NOISE = sc.Gaussian(0.25)


@pytest.fixture(scope="module")
def states():
    network = drawn(cifar_resnet(8))
    return {
        "bare": network.state_dict(),
        "second": nn.Sequential(Normalise(), network).state_dict(),
        "lenet": drawn(LeNet()).state_dict(),
        "small": drawn(SmallLeNet()).state_dict(),
        "denoiser": drawn(Denoiser(3, 4)).state_dict(),
    }


def refusal(tmp_path, content, error=InvalidArgumentError, **told):
    torch.save(content, tmp_path / "c.pth")
    with pytest.raises(error) as refused:
        sc.import_checkpoint(tmp_path / "c.pth", tmp_path / "m", **{"noise": NOISE, **told})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.pth"]
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_missing_normalisation_is_asked_for(tmp_path, states):
    text = refusal(tmp_path, {"state_dict": states["second"]})
    assert "--dataset" in text
    assert "--mean" in text
    text = refusal(tmp_path, states["bare"])
    assert "--no-normalize" in text


def test_families_that_normalise_differently_are_told_apart_by_the_user(tmp_path, states):
    text = refusal(tmp_path, {"state_dict": states["second"]}, dataset="cifar10")
    assert "--family" in text
    assert "smoothadv: the data set's mean, without a std" in text


@pytest.mark.parametrize(
    ("told", "mean", "std"),
    [
        ({"mean": (0.5,), "std": (0.25,)}, (0.5,), (0.25,)),
        ({"normalize": False}, (0.0,), (1.0,)),
        ({"family": "smoothadv", "dataset": "cifar10"}, (0.4914, 0.4822, 0.4465), (1.0,)),
        ({"family": "consistency", "dataset": "svhn"}, (0.4377, 0.4438, 0.4728), (0.198, 0.201, 0.197)),
    ],
)
def test_what_is_said_counts(tmp_path, states, told, mean, std):
    torch.save({"state_dict": states["second"]}, tmp_path / "c.pth")
    card = sc.import_checkpoint(tmp_path / "c.pth", tmp_path / "m", noise=NOISE, **told)
    assert (card.mean, card.std) == (mean, std)
    digest = hashlib.sha256((tmp_path / "c.pth").read_bytes()).hexdigest()
    assert card.training["imported"]["sha256"] == digest
    with pytest.raises(CheckpointError, match="already holds a model"):
        sc.import_checkpoint(tmp_path / "c.pth", tmp_path / "m", noise=NOISE, **told)


def test_a_bare_table_takes_the_numbers_of_the_data_set_it_is_told(tmp_path, states):
    torch.save(states["bare"], tmp_path / "c.pth")
    card = sc.import_checkpoint(tmp_path / "c.pth", tmp_path / "m", noise=NOISE, dataset="cifar10")
    assert card.std == (0.2023, 0.1994, 0.2010)
    assert "no family confirms" in card.training["imported"]["normalisation"]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"mean": (0.5,)}, "given together"),
        ({"mean": (0.5,), "std": (1.0,), "normalize": False}, "leave one out"),
        ({"mean": (0.5, 0.5), "std": (1.0, 1.0)}, "mean must be 1 or 3"),
        ({"mean": (0.5,), "std": (0.0,)}, "std must be positive"),
        ({"normalize": "no"}, "True or False"),
        ({"normalize": False, "num_classes": 100}, "the last layer in .* has 10 classes"),
        ({"dataset": "cifar100", "family": "cohen"}, "cifar100 has 100"),
        ({"dataset": "mnist", "family": "cohen"}, "images of mnist have 1 channels"),
        ({"normalize": False, "classifier": "x"}, "classifier is for denoisers"),
        ({"noise": 0.25}, "noise must be a noise law"),
        ({"normalize": False, "arch": "resnet110"}, "weights in .* are those of resnet8; leave arch out"),
        ({"normalize": False, "family": "macer"}, "none of family 'macer'.*it may be of: cohen"),
        ({"normalize": False, "family": "some"}, "none of family 'some'"),
    ],
)
def test_contradictions_are_refused(tmp_path, states, told, words):
    assert re.search(words, refusal(tmp_path, {"state_dict": states["second"]}, **told))


@pytest.mark.parametrize("told", [{"family": "nobody"}, {"arch": "nothing"}, {"dataset": "none-such"}])
def test_unknown_names_are_answered_with_the_known_ones(tmp_path, states, told):
    text = refusal(tmp_path, {"state_dict": states["second"]}, UnknownNameError, **told)
    assert "known: " in text


def test_a_file_that_calls_itself_something_else_is_refused(tmp_path, states):
    content = {"arch": "cifar_resnet110", "state_dict": states["second"]}
    text = refusal(tmp_path, content, CheckpointError, dataset="cifar10", family="cohen")
    assert "calls its network 'cifar_resnet110', but its weights are those of resnet8" in text
    assert "--arch resnet8" in text
    sc.import_checkpoint(
        tmp_path / "c.pth", tmp_path / "m", noise=NOISE, dataset="cifar10", family="cohen", arch="resnet8"
    )


def test_one_name_may_mean_two_networks(tmp_path, states):
    """SWEEN's lenet is our lenet-cifar; elsewhere it is the one for MNIST."""
    for state, family, name in (("small", "sween", "lenet-cifar"), ("lenet", "macer", "lenet")):
        torch.save({"net": states[state]}, tmp_path / "c")
        card = sc.import_checkpoint(tmp_path / "c", tmp_path / name, noise=NOISE, arch="lenet", family=family)
        assert card.architecture == name


def test_a_denoiser_asks_for_its_classifier(tmp_path, states):
    assert "--classifier" in refusal(tmp_path, {"state_dict": states["denoiser"]})
    text = refusal(tmp_path, {"state_dict": states["denoiser"]}, classifier=tmp_path, normalize=False)
    assert "its classifier normalises" in text
    refusal(tmp_path, {"state_dict": states["denoiser"]}, CheckpointError, classifier=tmp_path)


def test_numbers_of_the_file_are_not_overruled(tmp_path, states):
    content = states["second"] | {"0.means": torch.tensor([0.5] * 3), "0.sds": torch.tensor([0.25] * 3)}
    assert "itself normalises" in refusal(tmp_path, content, mean=(0.4,), std=(0.25,))
    assert "itself normalises" in refusal(tmp_path, content, normalize=False)
    sc.import_checkpoint(tmp_path / "c.pth", tmp_path / "m", noise=NOISE, mean=(0.5,), std=(0.25,))


@pytest.mark.parametrize("name", ["layer3.0.conv2.weight", "fc.weight", "conv1.weight"])
def test_views_that_claim_any_size_at_no_bytes_are_refused(tmp_path, states, name):
    content = dict(states["bare"])
    content[name] = torch.zeros(1).expand(2**20, 2**20, *content[name].shape[2:])
    text = refusal(tmp_path, content, CheckpointError, normalize=False)
    assert "claims more numbers than it has bytes for" in text


def test_networks_beyond_the_limits_build_nothing(tmp_path, states, monkeypatch):
    """The second line of defence, by shape, were the bytes there."""
    monkeypatch.setattr(Path, "stat", lambda path, **more: os.stat_result((0o100600, *[2**62] * 9)))
    for name in ("layer3.0.conv2.weight", "fc.weight", "conv1.weight"):
        content = dict(states["bare"])
        content[name] = torch.zeros(1).expand(2**20, 2**20, *content[name].shape[2:])
        refusal(tmp_path, content, SmoothcertError, normalize=False)


def test_too_many_heads_are_refused(tmp_path, states):
    heads = {f"heads.{number}.1.weight": torch.zeros(10, 64) for number in range(1_001)}
    content = {
        name: tensor for name, tensor in states["bare"].items() if not name.startswith(("fc", "layer3"))
    }
    refusal(tmp_path, content | heads, SmoothcertError, normalize=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.double(), "of float64, not .* of float32"),
        (lambda t: t.new_full(t.shape, torch.nan), "NaN or infinite numbers in 'fc.weight'"),
        (lambda t: t[:, :-1], "size mismatch for 'network.classifier.weight'"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path, states, change, words):
    content = states["bare"] | {"fc.weight": change(states["bare"]["fc.weight"])}
    assert re.search(words, refusal(tmp_path, content, CheckpointError, normalize=False))


@pytest.mark.parametrize("name", FAMILIES)
def test_families_say_who_they_are(name):
    family = FAMILIES[name]
    assert "/" in family.summary
    assert family.holder in ("state_dict", "net")
    assert all(family.meaning(alias) in {*MODELS, *DENOISERS} for alias in family.aliases)
