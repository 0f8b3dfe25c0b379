"""Several heads on one trunk: the published sizes, the same answers as the plain network, and clear refusals."""

import copy
from collections import OrderedDict

import pytest
import torch
from torch import nn

from networks.every_model import MEAN, NAMES, STD, images, settled, small_shape
from small_networks import small_card
from smoothcert.errors import CheckpointError, InvalidArgumentError, UnknownNameError
from smoothcert.folders import ModelCard, load_checkpoint, save_checkpoint
from smoothcert.networks import (
    MODELS,
    MultiHead,
    create_model,
    forward_flops,
    multi_head,
    resolve_split,
    split_points,
    stages_of,
    weights_digest,
)
from smoothcert.networks.head_splits import borders_of, refuse_split
from smoothcert.networks.stages import network_stages


def size(module):
    return sum(weights.numel() for weights in module.parameters())


def stages(name):
    with torch.device("meta"):  # no weight is drawn
        return network_stages(MODELS[name].build(10, MODELS[name].input_shape))


def small(name="resnet8", heads=3, split=None, shape=(1, 8, 8), num_classes=4):
    torch.manual_seed(0)
    model = create_model(name, num_classes=num_classes, input_shape=shape, heads=heads, split=split)
    with torch.no_grad():
        model.train()(images(shape, 16))
    return model.eval()


def test_the_published_sizes_of_resnet110():
    five = create_model("resnet110", num_classes=10, heads=5)
    whole = create_model("resnet110", num_classes=10, heads=5, split="100%")
    assert [size(head) for head in five.heads] == [1_316_106] * 5
    assert size(five) == 6_995_138
    assert size(whole) == 5 * 1_730_714
    assert list(dict(five.trunk.named_children())) == ["normalize", "stem", "stage1", "stage2"]
    assert [name for name, _ in whole.trunk.named_children()] == ["normalize"]


def test_the_published_cost_of_resnet110():
    """The paper counts multiply-adds: .594 for five heads, 1.280 for five networks."""
    image = torch.empty(3, 32, 32, device="meta")  # counted, not computed
    single, five = (
        forward_flops(create_model("resnet110", num_classes=10, heads=heads).eval().to("meta"), image) / 2e9
        for heads in (None, 5)
    )
    assert five == pytest.approx(0.594, rel=0.01)
    assert 5 * single == pytest.approx(1.280, rel=0.02)
    assert five / (5 * single) == pytest.approx(0.47, abs=0.005)


@pytest.mark.parametrize("name", NAMES)
def test_one_head_is_the_plain_network_bit_for_bit(name):
    model, batch = settled(name), images(small_shape(name), 3)
    with torch.no_grad():
        expected = model(batch)
        for split in (None, "0%", "100%"):
            one = multi_head(model, split, 1).eval()
            assert torch.equal(one(batch), expected)
            assert torch.equal(one.head(0)(batch), expected)


def test_every_border_cuts_without_changing_an_answer():
    model, batch = settled("resnet20"), images(small_shape("resnet20"), 2)
    borders = borders_of(stages_of(model)[1:])
    assert [border.name for border in borders if "." in border.name] == [
        f"stage{stage}.{block}" for stage in (1, 2, 3) for block in (1, 2)
    ]
    assert set(split_points(model)) < {border.name for border in borders}
    with torch.no_grad():
        expected = model(batch)
        for border in borders:
            cut = multi_head(model, border.name, 1).eval()
            layers = sum(isinstance(part, nn.Conv2d | nn.Linear) for part in cut.heads.modules())
            assert layers == border.layers
            assert torch.equal(cut(batch), expected)


def test_the_prediction_is_the_mean_of_heads_that_differ():
    model, batch = small(), images((1, 8, 8), 5, seed=1)
    with torch.no_grad():
        each = model.head_logits(batch)
        assert each.shape == (5, 3, 4)
        torch.testing.assert_close(model(batch), each.mean(dim=1))
        for number in range(3):
            assert torch.equal(model.head(number)(batch), each[:, number])
    assert len({tuple(head.stage3[0].body[0].weight.flatten()[:3].tolist()) for head in model.heads}) == 3


def test_a_head_alone_shares_weights_and_mode():
    model = small()
    alone = model.head(1)
    assert not alone.training
    assert {id(weights) for weights in alone.parameters()} <= {id(weights) for weights in model.parameters()}
    assert model.train().head(1).training
    for number in (3, -1, 1.0, True):
        with pytest.raises(InvalidArgumentError, match="from 0 to 2"):
            model.head(number)


def test_making_heads_keeps_the_given_network_as_trunk_and_first_head():
    torch.manual_seed(0)
    plain = create_model("resnet8", num_classes=4, input_shape=(1, 28, 28))
    torch.manual_seed(0)
    several = create_model("resnet8", num_classes=4, input_shape=(1, 28, 28), heads=2)
    for one, other in zip(plain.parameters(), several.head(0).parameters(), strict=True):
        assert torch.equal(one, other)
    assert several(torch.rand(2, 1, 28, 28)).shape == (2, 4)


@pytest.mark.parametrize(
    ("name", "split", "border"),
    [
        ("resnet110", None, "stage3"),
        ("resnet110", "34%", "stage3"),
        ("resnet110", "17%", "stage3.9"),  # the middle of the third stage, as in the paper
        ("resnet110", "0%", "classifier"),
        ("resnet110", "100%", "stem"),
        ("resnet50", None, "stage4"),
        ("resnet8", "34%", "stage3"),
        ("resnet8", "17%", "classifier"),  # one block per stage: no border is nearer
        ("resnet20", "34%", "stage3"),
        ("lenet", None, "classifier"),
        ("densenet40", None, "classifier"),
        ("convnet", "100%", "stage1"),
        ("convnet", "stage2", "stage2"),
        ("vgg16", "stage5.6", "stage5.6"),
    ],
)
def test_splits_by_name_and_by_share(name, split, border):
    assert resolve_split(stages(name), split) == border


def test_shares_of_resnet110_are_those_of_the_paper():
    layers = {border.name: border.layers for border in borders_of(stages("resnet110"))}
    assert layers["stage3"] == 37 + 1  # appendix B.2, shortcut included
    assert layers["stem"] == 112
    assert round(100 * layers["stage3"] / layers["stem"]) == 34
    assert round(100 * layers["stage3.9"] / layers["stem"]) == 17


@pytest.mark.parametrize("name", [*MODELS])
def test_the_default_split_of_every_network_leaves_layers_on_both_sides(name):
    layers = {border.name: border.layers for border in borders_of(stages(name))}
    assert 0 < layers[resolve_split(stages(name), None)] < max(layers.values())


@pytest.mark.parametrize(
    ("split", "error", "words"),
    [
        ("normalize", InvalidArgumentError, "leaves no trunk"),
        (
            "stage9",
            UnknownNameError,
            "before: stem, stage1, stage2, stage3, pool, classifier, before a block",
        ),
        ("stage3.9", UnknownNameError, "unknown split 'stage3.9'"),
        ("", UnknownNameError, "34%"),
        ("101%", InvalidArgumentError, 'from "0%" to "100%", got \'101%\''),
        ("-1%", InvalidArgumentError, "'-1%'"),
        ("nan%", InvalidArgumentError, "'nan%'"),
        ("third%", InvalidArgumentError, "'third%'"),
        (3, InvalidArgumentError, "must be a stage such as"),
    ],
)
def test_splits_that_are_none_are_refused(split, error, words):
    with pytest.raises(error) as caught:
        create_model("resnet20", num_classes=10, heads=2, split=split)
    assert words in str(caught.value)
    with pytest.raises(error):
        refuse_split("resnet20", split)


@pytest.mark.parametrize("heads", [0, -1, 2.0, True, "2"])
def test_numbers_of_heads_that_are_none_are_refused(heads):
    with pytest.raises(InvalidArgumentError, match="heads must be an integer of at least 1, got"):
        create_model("resnet8", num_classes=10, heads=heads)


def test_heads_need_a_network_that_can_be_built_again():
    with pytest.raises(InvalidArgumentError, match="heads is not given"):
        create_model("resnet8", num_classes=10, split="stage3")
    with pytest.raises(InvalidArgumentError, match="must come from create_model"):
        multi_head(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), None, 2)
    model = create_model("resnet8", num_classes=10)
    with pytest.raises(InvalidArgumentError, match="build the network again"):
        multi_head(nn.Sequential(OrderedDict(model.named_children())), None, 2)
    assert len(multi_head(copy.deepcopy(model), None, 2).heads) == 2
    assert (
        type(model) is nn.Sequential
    )  # its class is part of the identity of runs made before there were heads
    with pytest.raises(InvalidArgumentError, match="at least one head"):
        MultiHead(nn.Identity(), [])


def card(**changes):
    settings = {"architecture": "resnet8", "mean": MEAN, "std": STD, "class_names": tuple("0123")}
    return small_card(**{**settings, **changes})


def test_a_folder_gives_a_multi_head_network_back(tmp_path):
    torch.manual_seed(0)
    described = card(heads=3, split="stage3")
    model = described.build().eval()
    saved = save_checkpoint(model, described, tmp_path / "model")
    loaded, found = load_checkpoint(tmp_path / "model")
    assert isinstance(loaded, MultiHead)
    assert (found, found.heads, found.split) == (saved, 3, "stage3")
    assert saved.digest == weights_digest(model)
    batch = images((1, 8, 8), 3)
    with torch.no_grad():
        assert torch.equal(loaded(batch), model(batch))


def test_a_card_that_normalises_otherwise_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="normalises by other numbers"):
        save_checkpoint(card(heads=2, mean=(0.1,)).build(), card(heads=2), tmp_path / "model")


def test_cards_of_plain_networks_say_nothing_of_heads():
    assert not {"heads", "split"} & set(card().model_dump())
    assert "heads" not in card().model_dump_json()
    assert ModelCard.model_validate_json(card(heads=2).model_dump_json()) == card(heads=2)
    assert ModelCard.model_validate_json(card().model_dump_json()) == card()
