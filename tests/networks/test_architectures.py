"""Networks have the layers and the parameters that were written down, and normalise first."""

import hashlib

import numpy as np
import pytest
import torch

from networks.every_model import parameters_of
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks import MODELS, Normalize, create_model


@pytest.mark.parametrize(
    "shape, classes, expected",
    [
        # convolutions 9 * (in * out), batch norms 2 * out, linear (features + 1) * classes
        ((1, 8, 8), 10, 9 * (1 * 8 + 8 * 16 + 16 * 16) + 2 * (8 + 16 + 16) + (16 * 2 * 2 + 1) * 10),
        ((3, 32, 20), 7, 9 * (3 * 8 + 8 * 16 + 16 * 16) + 2 * (8 + 16 + 16) + (16 * 8 * 5 + 1) * 7),
    ],
)
def test_convnet_parameter_count(shape, classes, expected):
    model = create_model("convnet", num_classes=classes, input_shape=shape)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected
    assert model(torch.zeros(2, *shape)).shape == (2, classes)


PUBLISHED = {
    "alexnet": 2_472_266,
    "densenet100": 769_162,
    "densenet40": 211_978,
    "lenet": 431_080,
    "lenet-cifar": 62_006,
    "resnet20": 272_474,
    "resnet26": 369_690,
    "resnet32": 466_906,
    "resnet110": 1_730_714,
    "resnet18": 11_689_512,
    "resnet34": 21_797_672,
    "resnet50": 25_557_032,
    "vgg16": 14_728_266,
    "vgg19": 20_040_522,
}
OWN = {"convnet", "resnet8"}  # nobody published these
IMAGENET = {"resnet18", "resnet34", "resnet50"}


@pytest.mark.parametrize("name, expected", PUBLISHED.items())
def test_published_parameter_counts(name, expected):
    assert parameters_of(name) == expected


def test_every_architecture_has_its_count_here():
    assert set(MODELS) == set(PUBLISHED) | OWN


@pytest.mark.parametrize("name", list(MODELS))
def test_every_architecture_takes_other_images_and_classes(name):
    architecture = MODELS[name]
    shape = (2, architecture.least_side, architecture.least_side + 5)
    with torch.device("meta"):
        answer = architecture.build(7, shape).eval()(torch.empty(3, *shape))
    assert answer.shape == (3, 7)
    assert architecture.summary
    assert architecture.num_classes == (1000 if name in IMAGENET else 10)


@pytest.mark.parametrize("name", list(MODELS))
def test_every_architecture_refuses_images_too_small_for_it(name):
    least = MODELS[name].least_side
    for shape in ((3, least - 1, 64), (3, 64, least - 1)):
        with pytest.raises(InvalidArgumentError, match=f"{name} needs .* sides of at least {least}, got"):
            create_model(name, num_classes=10, input_shape=shape)
    with pytest.raises(InvalidArgumentError, match="channels, height, width"):
        create_model(name, num_classes=10, input_shape=(64, 64))


@pytest.mark.parametrize("name", ["alexnet", "lenet", "lenet-cifar", "vgg16", "vgg19", "convnet"])
def test_the_smallest_side_is_no_larger_than_the_layers_need(name):
    shape = (3, MODELS[name].least_side - 1, 64)
    # Either a layer fails, or a linear layer without inputs is warned of.
    with torch.device("meta"), pytest.raises((RuntimeError, UserWarning)):
        MODELS[name].build(10, shape).eval()(torch.empty(2, *shape))


# Sizes instead of digests: the last bits of normal numbers depend on the processor.
@pytest.mark.parametrize(
    "name, names, size",
    [
        ("convnet", "bdb9f29a", 3677.503),
        ("lenet", "38b92649", 45732.012),
        ("resnet8", "690dd83f", 180911.448),
        ("resnet20", "b7c3c134", 1435404.002),
    ],
)
def test_a_seed_draws_the_weights_it_always_drew_under_the_same_names(name, names, size):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        state = create_model(name, num_classes=10).state_dict()
    assert hashlib.sha256("\n".join(state).encode()).hexdigest()[:8] == names
    weighted = (place * float(value.double().abs().sum()) for place, value in enumerate(state.values()))
    assert sum(weighted) == pytest.approx(size, rel=1e-6)


def test_convolutions_of_residual_and_dense_networks_start_from_hes_law():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        fan_in = create_model("densenet40", num_classes=10).network.stage3[-1].body[2].weight.detach()
        fan_out = create_model("resnet18", num_classes=10).network.stage4[0].body[0].weight.detach()
    assert float(fan_in.std()) == pytest.approx((2 / (24 + 17 * 12)) ** 0.5, rel=0.02)  # 1x1
    assert float(fan_out.std()) == pytest.approx((2 / (9 * 512)) ** 0.5, rel=0.01)  # 3x3 to 512 channels


def test_normalize_is_per_channel_and_saved():
    layer = Normalize((3, 2, 2), mean=(0.1, 0.2, 0.3), std=(0.5, 0.25, 2.0))
    batch = np.random.default_rng(0).random((4, 3, 2, 2), dtype=np.float32)
    expected = batch.copy()
    for channel, (mean, std) in enumerate([(0.1, 0.5), (0.2, 0.25), (0.3, 2.0)]):
        expected[:, channel] = (batch[:, channel] - mean) / std
    np.testing.assert_allclose(layer(torch.from_numpy(batch)).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert set(layer.state_dict()) == {"mean", "std"}
    assert not list(layer.parameters())


def test_normalize_without_numbers_changes_no_bit():
    batch = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(Normalize((1, 8, 8))(batch), batch)


def test_normalisation_belongs_to_the_model():
    plain = create_model("convnet", num_classes=3).eval()
    shifted = create_model("convnet", num_classes=3, mean=(0.5,), std=(0.25,)).eval()
    shifted.network.load_state_dict(plain.network.state_dict())
    batch = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(shifted(batch), plain((batch - 0.5) / 0.25))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_classes": 1}, "num_classes must be at least 2, got 1"),
        ({"num_classes": 10, "input_shape": (1, 3, 8)}, "sides of at least 4"),
        ({"num_classes": 10, "input_shape": (64,)}, "channels, height, width"),
        ({"num_classes": 10, "input_shape": (0, 8, 8)}, "positive"),
        ({"num_classes": 10, "mean": (0.1, 0.2)}, "mean must be 1 or 1 finite"),
        ({"num_classes": 10, "std": (0.0,)}, "std must be positive"),
        ({"num_classes": 10, "std": (float("nan"),)}, "std must be 1 or 1 finite"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        create_model("convnet", **options)


def test_unknown_model_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"unknown model 'resnet'; known: .*convnet"):
        create_model("resnet", num_classes=10)
