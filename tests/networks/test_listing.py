"""The listing has every network, with figures that agree with the networks themselves."""

import pytest
import torch

from smoothcert.errors import UnknownNameError
from smoothcert.networks import (
    MODELS,
    create_model,
    describe_model,
    describe_models,
    forward_flops,
    stages_of,
)


def test_every_network_is_listed_once_and_nothing_is_drawn():
    state = torch.random.get_rng_state()
    listed = describe_models()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert [line.name for line in listed] == list(MODELS)
    for line in listed:
        assert line.summary == MODELS[line.name].summary
        assert line.input_shape == MODELS[line.name].input_shape


@pytest.mark.parametrize("name", ["convnet", "lenet", "resnet8", "densenet40"])
def test_figures_are_those_of_the_model(name):
    model = create_model(name, num_classes=10).eval()
    line = describe_model(name)
    assert line.parameters == sum(weights.numel() for weights in model.parameters())
    assert 2 * line.multiply_adds == forward_flops(model, torch.zeros(line.input_shape))
    assert line.stages == tuple(stage for stage, _ in stages_of(model))[1:]


@pytest.mark.parametrize("heads, split", [(3, None), (2, "100%")])
def test_figures_with_heads_are_those_of_the_model(heads, split):
    model = create_model("resnet8", num_classes=10, heads=heads, split=split).eval()
    line = describe_model("resnet8", heads, split)
    assert line.parameters == sum(weights.numel() for weights in model.parameters())
    assert 2 * line.multiply_adds == forward_flops(model, torch.zeros(line.input_shape))
    assert line.stages == describe_model("resnet8").stages


def test_five_heads_on_a_resnet110_cost_less_than_half_of_five_networks():
    """The SOME paper: .256 G for one network, .594 for five heads, 1.280 for five networks; 6,995,138 parameters."""
    heads, single = describe_model("resnet110", 5), describe_model("resnet110")
    assert heads.parameters == 6_995_138
    assert single.multiply_adds / 1e9 == pytest.approx(0.256, rel=0.02)
    assert heads.multiply_adds / 1e9 == pytest.approx(0.594, rel=0.02)
    assert heads.multiply_adds / (5 * single.multiply_adds) == pytest.approx(0.594 / 1.280, abs=0.005)
    assert describe_model("resnet110", 5, "100%").multiply_adds == 5 * single.multiply_adds


def test_operations_of_lenet_by_hand():
    convolutions = 24 * 24 * 20 * 25 + 8 * 8 * 50 * 25 * 20
    assert describe_model("lenet").multiply_adds == convolutions + 800 * 500 + 500 * 10


@pytest.mark.parametrize(
    "name, multiply_adds",
    [("resnet18", 1.814e9), ("resnet34", 3.664e9), ("resnet50", 4.089e9), ("vgg16", 0.313e9)],
)
def test_published_operations(name, multiply_adds):
    assert describe_model(name).multiply_adds == pytest.approx(multiply_adds, rel=0.002)


def test_figures_of_imagenet_networks_are_for_a_thousand_classes():
    line = describe_model("resnet50")
    assert (line.num_classes, line.input_shape, line.least_side) == (1000, (3, 224, 224), 32)
    assert line.parameters == 25_557_032
    assert line.stages == ("stem", "stage1", "stage2", "stage3", "stage4", "pool", "classifier")


def test_an_unknown_network_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="unknown model 'resnet21'; known: alexnet"):
        describe_model("resnet21")
