"""Training as if in int8, and trainings that begin with a trained network."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

import smoothcert as sc
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import load_checkpoint, read_card
from smoothcert.training import TrainConfig, train
from smoothcert.training.steps.rounding import LARGEST, simulated_rounding

SHORT = {"epochs": 2, "seed": 5, "batch_size": 128, "max_train_images": 384, "model": "convnet"}


class StopError(Exception):
    """Stands for a crash in the middle of a training."""


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first") / "model"
    train(SHORT, folder)
    return folder


def reference(inputs, weight, bias, largest):
    """A linear layer with rounded weights and inputs, in float64 and by its definition."""
    step = np.abs(weight).max(axis=1, keepdims=True) / largest
    weight = np.round(weight / step) * step
    low, high = min(inputs.min(), 0.0), max(inputs.max(), 0.0)
    size = (high - low) / 255
    zero = np.round(-low / size)
    inputs = (np.clip(np.round(inputs / size) + zero, 0, 255) - zero) * size
    return inputs @ weight.T + bias


@pytest.mark.parametrize("rounding", LARGEST)
def test_a_layer_calculates_with_rounded_numbers(rounding):
    generator = torch.Generator().manual_seed(3)
    layer = nn.Linear(12, 5)
    nn.init.normal_(layer.weight, generator=generator)
    inputs = torch.randn(9, 12, generator=generator)
    exact = layer(inputs)
    with simulated_rounding(nn.Sequential(layer), rounding):
        found = layer(inputs)
    values = [one.detach().double().numpy() for one in (inputs, layer.weight, layer.bias)]
    np.testing.assert_allclose(
        found.detach().numpy(), reference(*values, LARGEST[rounding]), rtol=1e-4, atol=1e-4
    )
    assert not torch.equal(found, exact)
    assert torch.equal(layer(inputs), exact), "afterwards it is what it was"


def test_a_convolution_is_its_linear_form():
    """One pixel under a 1x1 kernel is a linear layer, and padding stays exactly zero."""
    conv, linear = nn.Conv2d(6, 4, 1, padding=1), nn.Linear(6, 4)
    with torch.no_grad():
        linear.weight.copy_(conv.weight.flatten(1))
        linear.bias.copy_(conv.bias)
    inputs = torch.randn(3, 6, 1, 1, generator=torch.Generator().manual_seed(1))
    with simulated_rounding(nn.ModuleList([conv, linear]), "int8"):
        found, wanted = conv(inputs), linear(inputs.flatten(1))
    assert torch.allclose(found[:, :, 1, 1], wanted, atol=1e-6)
    assert torch.equal(found[:, :, 0, 0], conv.bias.expand(3, 4))


def test_gradients_are_those_of_the_layer_that_was_not_rounded():
    layer = nn.Linear(4, 3, bias=False)
    inputs = torch.rand(5, 4, requires_grad=True)
    with simulated_rounding(layer, "int8"):
        layer(inputs).sum().backward()
    assert torch.allclose(layer.weight.grad, inputs.detach().sum(0).expand(3, 4), atol=0.05)
    assert torch.allclose(inputs.grad, layer.weight.detach().sum(0).expand(5, 4), atol=0.05)


@pytest.mark.parametrize("zeros", [torch.zeros(2, 4), torch.ones(2, 4) * 1e-30])
def test_what_is_all_zero_stays_finite(zeros):
    layer = nn.Linear(4, 3)
    nn.init.zeros_(layer.weight)
    with simulated_rounding(layer, "seven-bits"):
        assert torch.isfinite(layer(zeros)).all()


def test_an_error_inside_leaves_no_layer_rounded():
    layer = nn.Linear(2, 2)
    with pytest.raises(StopError), simulated_rounding(layer, "int8"):
        raise StopError
    assert "forward" not in vars(layer)


def test_a_training_begins_with_the_weights_it_is_given(first, tmp_path):
    """A step of almost nothing leaves almost the same weights; from anew they would be others."""
    still = {**SHORT, "epochs": 1, "lr": 1e-12, "start": str(first)}
    card = train(still, tmp_path / "still")
    before, after = (load_file(one / "model.safetensors") for one in (first, tmp_path / "still"))
    for name, tensor in before.items():
        if "running" not in name and tensor.is_floating_point():
            assert torch.allclose(after[name], tensor, atol=1e-6), name
    assert card.training["digests"] == [read_card(first).digest]
    assert read_card(first).digest != card.digest


def test_rounding_is_recorded_and_continues_after_a_stop_to_the_same_bits(first, tmp_path):
    tuned = {**SHORT, "lr": 0.01, "start": str(first), "rounding": "int8"}
    whole = train(tuned, tmp_path / "whole")
    assert whole.training["rounding"] == "int8"
    assert "rounding" not in read_card(first).training

    def stop(metrics):
        if metrics.epoch == 1:
            raise StopError

    with pytest.raises(StopError):
        train(tuned, tmp_path / "parts", on_epoch=stop)
    assert train(tuned, tmp_path / "parts", resume=True).digest == whole.digest
    plain = {name: value for name, value in tuned.items() if name != "rounding"}
    with pytest.raises(CheckpointError, match="rounding"):
        train(plain, tmp_path / "whole", resume=True)
    assert train(plain, tmp_path / "plain").digest != whole.digest


def test_tuned_for_coarse_weights_a_network_loses_less_by_them(first, tmp_path, monkeypatch):
    """Weights of -1, 0 and 1 leave so little that what is won is far beyond chance; with eight bits little is lost."""
    monkeypatch.setitem(LARGEST, "int8", 1)
    tuned = {"epochs": 6, "seed": 5, "batch_size": 64, "lr": 0.05, "model": "convnet", "start": str(first)}
    train({**tuned, "rounding": "int8"}, tmp_path / "rounded")
    train(tuned, tmp_path / "plain")
    images = sc.load_dataset("digits", "holdout")
    batch = images.batch(range(len(images)))
    noisy = batch + 0.25 * torch.randn(batch.shape, generator=torch.Generator().manual_seed(0))
    right = {}
    for name in ("rounded", "plain"):
        model, _ = load_checkpoint(tmp_path / name)
        with torch.no_grad(), simulated_rounding(model, "int8"):
            right[name] = float((model(noisy).argmax(1).numpy() == images.labels).mean())
    assert right["rounded"] > right["plain"] + 0.1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "lenet"}, "architecture"),
        ({"normalize": False, "dataset": "digits", "heads": 2, "split": "100%"}, "heads"),
        ({"method": "drt", "model": "convnet"}, "does not train"),
        ({"rounding": "int8", "precision": "bf16-mixed"}, "rounding"),
    ],
)
def test_what_cannot_be_started_from_is_refused(first, tmp_path, changes, said):
    with pytest.raises(InvalidArgumentError, match=said):
        train({**SHORT, "start": str(first), **changes}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_start_that_is_quantised_is_refused(first, tmp_path):
    sc.quantize(first, sc.load_dataset("digits", "holdout"), tmp_path / "int8", images=32, draws=1, seed=0)
    with pytest.raises(InvalidArgumentError, match="float32"):
        train({**SHORT, "start": str(tmp_path / "int8")}, tmp_path / "out")


def test_an_unknown_rounding_is_refused_by_name():
    with pytest.raises(InvalidArgumentError, match="rounding"):
        TrainConfig(rounding="int4")


class Standardised(nn.Conv2d):
    """A convolution with a forward pass of its own."""

    def forward(self, input):
        return self._conv_forward(input, self.weight - self.weight.mean(), self.bias)


def test_a_layer_with_a_forward_pass_of_its_own_is_refused():
    changed = nn.Linear(2, 2)
    changed.forward = lambda input: input
    for layer in (Standardised(1, 1, 1), changed):
        with (
            pytest.raises(InvalidArgumentError, match="forward pass of its own"),
            simulated_rounding(layer, "int8"),
        ):
            pass
    assert "forward" in vars(changed)
    with pytest.raises(InvalidArgumentError, match="no Conv2d"), simulated_rounding(nn.ReLU(), "int8"):
        pass


def test_a_layer_may_be_called_by_the_name_of_its_argument():
    layer = nn.Linear(2, 2)
    with simulated_rounding(layer, "int8"):
        assert layer(input=torch.ones(1, 2)).shape == (1, 2)


def test_a_start_that_has_learnt_the_holdout_is_refused(tmp_path):
    train({**SHORT, "epochs": 1, "holdout": "none"}, tmp_path / "all")
    with pytest.raises(InvalidArgumentError, match="hold-out"):
        train({**SHORT, "start": str(tmp_path / "all")}, tmp_path / "out")
    assert train({**SHORT, "epochs": 1, "holdout": "none", "start": str(tmp_path / "all")}, tmp_path / "out")
