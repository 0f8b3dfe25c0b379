"""Sizes and prices that stand with networks are those of the networks."""

import pytest
import torch

from smoothcert.networks import DENOISERS, MODELS, DnCNN, describe_denoiser, describe_model, forward_flops
from smoothcert.networks.architecture import build_network
from smoothcert.networks.descriptions import is_border
from smoothcert.networks.head_splits import resolve_split
from smoothcert.networks.measured import measured_figures
from smoothcert.networks.stages import network_stages

OWN = [name for name in MODELS if MODELS.package_of(name) is None]


@pytest.mark.parametrize("name", OWN)
def test_every_stage_is_as_large_and_dear_as_its_figures_say(name):
    architecture = MODELS[name]
    with torch.device("meta"), torch.no_grad():
        stages = network_stages(
            build_network(name, architecture.num_classes, architecture.input_shape).eval()
        )
        batch, found = torch.empty(1, *architecture.input_shape), {}
        for stage, module in stages:
            weights = sum(one.numel() for one in module.parameters() if one.requires_grad)
            found[stage] = (weights, forward_flops(module, batch[0]) // 2)
            batch = module(batch)
    assert dict(architecture.figures) == found
    assert list(architecture.figures) == list(found)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("heads", [None, 1, 5])
def test_heads_cost_what_a_network_built_with_them_costs(name, heads):
    told = describe_model(name, heads)
    assert (told.stages, (told.parameters, told.multiply_adds)) == measured_figures(name, heads)


@pytest.mark.parametrize("name", OWN)
def test_heads_begin_where_the_built_network_says(name):
    architecture = MODELS[name]
    with torch.device("meta"):
        stages = network_stages(build_network(name, architecture.num_classes, architecture.input_shape))
    weighted = [stage for stage, (weights, _) in architecture.figures.items() if weights]
    assert resolve_split(stages, None) == (architecture.heads_begin or weighted[-1])
    assert is_border(name, None)
    assert not is_border(name, "34%")  # only the network knows
    assert not is_border(name, "nowhere")


@pytest.mark.parametrize("name", DENOISERS)
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32)])
def test_a_denoiser_is_as_large_and_dear_as_its_size_says(name, shape):
    size, told = DENOISERS[name], describe_denoiser(name, shape)
    with torch.device("meta"):
        built = DnCNN(shape[0], size.depth, size.width).eval()
        assert told.multiply_adds == forward_flops(built, torch.empty(shape)) // 2
    assert told.parameters == sum(one.numel() for one in built.parameters())
