"""Stages run in order are the model, bit for bit, and a model can be cut at each of their borders."""

import copy

import pytest
import torch
from torch import nn

from networks.every_model import NAMES, images, settled, small_shape
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks import MODELS, Normalize, create_model, split_before, split_points, stages_of
from smoothcert.networks.stages import network_stages


@pytest.mark.parametrize("name", NAMES)
def test_stages_and_every_cut_are_the_model_bit_for_bit(name):
    model = settled(name)
    features = [images(small_shape(name), 2)]
    with torch.no_grad():
        expected = model(features[0])
        for _, stage in stages_of(model):
            features.append(stage(features[-1]))
        assert torch.equal(features[-1], expected)
        for border, point in enumerate(split_points(model), start=1):
            _, head = split_before(model, point)
            assert torch.equal(head(features[border]), expected)
        trunk, head = split_before(model, split_points(model)[-1])
        assert torch.equal(head(trunk(features[0])), expected)


@pytest.mark.parametrize("name", NAMES)
def test_stages_hold_all_weights_once_and_are_named(name):
    with torch.device("meta"):
        network = MODELS[name].build(10, MODELS[name].input_shape)
    stages = network_stages(network)
    held = [id(weights) for _, stage in stages for weights in stage.parameters()]
    assert sorted(held) == sorted(id(weights) for weights in network.parameters())
    names = [stage for stage, _ in stages]
    assert names[-1] == "classifier"
    numbered = [stage for stage in names if stage.startswith("stage")]
    assert numbered == [f"stage{number}" for number in range(1, len(numbered) + 1)]
    assert set(names) - set(numbered) <= {"stem", "pool", "classifier"}


def test_the_first_stage_normalises_and_is_no_place_to_cut():
    model = create_model("resnet20", num_classes=10)
    (first, module), *rest = stages_of(model)
    assert first == "normalize"
    assert isinstance(module, Normalize)
    assert split_points(model) == ("stem", "stage1", "stage2", "stage3", "pool", "classifier")
    assert [name for name, _ in rest] == list(split_points(model))


def test_the_head_of_resnet110_before_its_last_residual_stage_has_the_published_size():
    _, head = split_before(create_model("resnet110", num_classes=10), "stage3")
    assert sum(weights.numel() for weights in head.parameters()) == 1_316_106


def test_parts_share_weights_and_a_deep_copy_does_not():
    model = settled("convnet")
    _, head = split_before(model, "stage3")
    other = copy.deepcopy(head)
    batch = images(small_shape("convnet"), 2)
    with torch.no_grad():
        before = model(batch)
        for weights in other.parameters():
            weights.add_(1)
        assert torch.equal(model(batch), before)
        for weights in head.parameters():
            weights.add_(1)
        assert not torch.equal(model(batch), before)


@pytest.mark.parametrize("stage", ["normalize", "stage9", ""])
def test_a_border_that_is_not_there_is_answered_with_those_that_are(stage):
    with pytest.raises(UnknownNameError, match="cut before: stage1, stage2, stage3, pool, classifier"):
        split_before(create_model("convnet", num_classes=10), stage)


def test_models_from_elsewhere_are_refused():
    with pytest.raises(InvalidArgumentError, match="must come from create_model"):
        stages_of(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)))
    with pytest.raises(InvalidArgumentError, match="must come from create_model"):
        stages_of(nn.Linear(4, 2))
    with pytest.raises(InvalidArgumentError, match=r"named stages, or have a method stages.* got Linear"):
        network_stages(nn.Linear(4, 2))
