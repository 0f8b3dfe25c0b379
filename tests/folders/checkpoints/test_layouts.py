"""Every published name has one place in our network, of the same shape, and nothing of ours stays empty."""

import re

import pytest
import torch

from published_networks import VGG, AlexNet, Denoiser, Dense, LeNet, ResNet, SmallLeNet, cifar_resnet
from smoothcert.errors import CheckpointError
from smoothcert.folders.checkpoints.layout import LAYOUTS, placed
from smoothcert.folders.checkpoints.prefixes import unwrapped
from smoothcert.folders.checkpoints.tensors import entries_of, our_entries
from smoothcert.networks import DENOISERS, MODELS, DnCNN, create_model

PUBLISHED = {
    "resnet8": lambda: cifar_resnet(8),
    "resnet20": lambda: cifar_resnet(20),
    "resnet26": lambda: cifar_resnet(26),
    "resnet32": lambda: cifar_resnet(32),
    "resnet110": lambda: cifar_resnet(110),
    "resnet18": lambda: ResNet((2, 2, 2, 2), large=True, classes=1000),
    "resnet34": lambda: ResNet((3, 4, 6, 3), large=True, classes=1000),
    "resnet50": lambda: ResNet((3, 4, 6, 3), large=True, deep=True, classes=1000),
    "lenet": LeNet,
    "lenet-cifar": SmallLeNet,
    "alexnet": AlexNet,
    "vgg16": lambda: VGG((2, 2, 3, 3, 3)),
    "vgg19": lambda: VGG((2, 2, 4, 4, 4)),
    "densenet40": lambda: Dense(6, "short"),
    "densenet100": lambda: Dense(16, "long"),
}


def placed_on_meta(build):
    with torch.device("meta"):
        state = build().state_dict()
    entries = entries_of(state, "x")
    return entries, placed(entries, "x")


def shapes(model):
    return {
        name: (value.dtype, tuple(value.shape))
        for name, value in model.state_dict().items()
        if "normalize." not in name
    }


def test_every_network_but_ours_alone_was_published():
    assert set(MODELS) - set(PUBLISHED) == {"convnet"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_names_and_shapes_are_those_of_our_network(name):
    entries, found = placed_on_meta(PUBLISHED[name])
    assert found.architecture == name
    with torch.device("meta"):
        ours = create_model(name, num_classes=MODELS[name].num_classes)
    assert our_entries(found, entries) == shapes(ours)
    assert len(set(found.names.values())) == len(entries)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("resnet110", lambda: cifar_resnet(110, heads=5)),
        ("resnet50", lambda: ResNet((3, 4, 6, 3), large=True, deep=True, heads=3, classes=1000)),
    ],
)
def test_heads_are_those_of_our_network(name, build):
    entries, found = placed_on_meta(build)
    assert found.architecture == name
    with torch.device("meta"):
        ours = create_model(name, num_classes=MODELS[name].num_classes, heads=found.heads)
    assert our_entries(found, entries) == shapes(ours)


@pytest.mark.parametrize(
    ("depth", "width", "name"), [(17, 64, "dncnn"), (17, 128, "dncnn-wide"), (7, 9, "dncnn")]
)
def test_denoisers_are_ours_by_their_size(depth, width, name):
    entries, found = placed_on_meta(lambda: Denoiser(depth, width))
    assert (found.architecture, found.size) == (name, (depth, width))
    assert name in DENOISERS
    with torch.device("meta"):
        assert our_entries(found, entries) == shapes(DnCNN(3, depth, width))


def test_the_weights_go_where_they_belong():
    """Pairs of equal shape that a wrong order would exchange unseen, written down from the published code."""
    _, found = placed_on_meta(PUBLISHED["resnet20"])
    for theirs, ours in (
        ("conv1.weight", "network.stem.0.weight"),
        ("bn1.running_mean", "network.stem.1.running_mean"),
        ("layer1.2.conv1.weight", "network.stage1.2.body.0.weight"),
        ("layer1.2.conv2.weight", "network.stage1.2.body.3.weight"),
        ("layer2.0.bn2.bias", "network.stage2.0.body.4.bias"),
        ("layer3.0.downsample.1.weight", "network.stage3.0.shortcut.1.weight"),
    ):
        assert found.names[theirs] == ours
    _, found = placed_on_meta(PUBLISHED["vgg16"])
    assert found.names["features.3.weight"] == "network.stage1.3.weight"
    assert found.names["features.41.bias"] == "network.stage5.7.bias"
    _, found = placed_on_meta(PUBLISHED["densenet40"])
    assert found.names["features.block2.layer1.brc_2.norm.bias"] == "network.stage2.1.body.3.bias"
    _, found = placed_on_meta(PUBLISHED["densenet100"])
    assert found.names["features.denseblock2.denselayer1.conv2.weight"] == "network.stage2.4.body.5.weight"


def test_no_two_layouts_claim_one_file():
    for build in [*PUBLISHED.values(), Denoiser]:
        with torch.device("meta"):
            names = list(build().state_dict())
        claims = [one for one in LAYOUTS if any(re.fullmatch(LAYOUTS[one].mark, name) for name in names)]
        assert len(claims) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: state | {"extra.weight": torch.zeros(1)}, "'extra.weight' has no place"),
        (
            lambda state: {name: t for name, t in state.items() if not name.startswith("fc")},
            "lacks fc.weight",
        ),
        (lambda state: {f"backbone.{name}": t for name, t in state.items()}, "begin with 'backbone.'"),
        (
            lambda state: {f"x{number}": t for number, t in enumerate(state.values())},
            "no network that can be",
        ),
        (lambda state: state | {"layer1.9.conv1.weight": torch.zeros(1)}, "'resnet10'"),
    ],
)
def test_what_has_no_place_is_named(change, words):
    state = change(cifar_resnet(8).state_dict())
    with pytest.raises(CheckpointError, match=words):
        placed(entries_of(state, "the file"), "the file")


def test_prefixes_come_off_only_where_all_names_have_them():
    one = torch.zeros(1)
    assert unwrapped({"module.a": one, "b": one}).taken == ()
    assert unwrapped({"0.weight": one, "1.weight": one, "2.weight": one}).taken == ()
    assert unwrapped({"0.weight": one, "1.weight": one}).taken == ()  # a layer, no normalisation
    inner = unwrapped({"module.1.module.a": one, "module.0.mean": one, "module.0.std": one})
    assert (inner.taken, set(inner.tensors), set(inner.buffers)) == (
        ("module.", "1.", "module."),
        {"a"},
        {"mean", "std"},
    )
