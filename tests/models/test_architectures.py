"""Networks have the layers and the parameters that were written down, and normalise first."""

import numpy as np
import pytest
import torch

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.models import MODELS, Normalize, create_model


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


@pytest.mark.parametrize(
    "name, expected",
    [
        ("lenet", 431_080),
        ("resnet20", 272_474),
        ("resnet26", 369_690),
        ("resnet32", 466_906),
        ("resnet110", 1_730_714),
    ],
)
def test_published_parameter_counts(name, expected):
    model = create_model(name, num_classes=10)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


@pytest.mark.parametrize("name", list(MODELS))
def test_every_architecture_answers_on_its_own_shape(name):
    model = create_model(name, num_classes=5).eval()
    assert model(torch.zeros(2, *MODELS[name].input_shape)).shape == (2, 5)
    assert isinstance(next(model.children()), Normalize)
    assert MODELS[name].summary


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
