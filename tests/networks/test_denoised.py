"""A denoiser in front of a frozen classifier: a fixed function of the noisy image that starts as the classifier."""

import numpy as np
import pytest
import torch
from torch import nn

from smoothcert.certificates import SmoothedClassifier
from smoothcert.engines import build_engine
from smoothcert.errors import InvalidArgumentError, UnknownNameError, UnsoundModelError
from smoothcert.networks import DENOISERS, Denoised, DnCNN, create_model, refuse_shapes
from smoothcert.noise import Gaussian
from truth import CENTRE, HalfSpace

SHAPE = (1, 8, 8)


def images(rows=8, shape=SHAPE):
    return torch.rand(rows, *shape, generator=torch.Generator().manual_seed(1))


def stirred(denoiser):
    """The same denoiser with other weights than its first ones, which change nothing, and used batch norms."""
    generator = torch.Generator().manual_seed(2)
    for weight in denoiser.parameters():
        weight.data += 0.1 * torch.randn(weight.shape, generator=generator)
    with torch.no_grad():
        denoiser.train()(images(16, (denoiser.channels, 8, 8)))
    return denoiser.eval()


def denoised(depth=4, width=6):
    torch.manual_seed(0)
    return Denoised(
        stirred(DnCNN(1, depth, width)), create_model("convnet", num_classes=10, input_shape=SHAPE)
    )


@pytest.mark.parametrize(
    "depth, width, parameters", [(17, 64, 558_400), (17, 128, 2_222_720), (5, 24, 17_016), (2, 4, 220)]
)
def test_number_of_parameters(depth, width, parameters):
    """By hand, on 3 channels: 27 w + w, depth - 2 times 9 w w + 2 w, and 27 w."""
    denoiser = DnCNN(3, depth, width)
    assert sum(weight.numel() for weight in denoiser.parameters()) == parameters
    assert sum(isinstance(layer, nn.Conv2d) for layer in denoiser.modules()) == depth


@pytest.mark.parametrize("mode", [True, False])
def test_changes_nothing_until_it_is_trained(mode):
    batch = images()
    assert torch.equal(DnCNN(1, 6, 8).train(mode)(batch), batch)


def test_subtracts_what_its_convolutions_see():
    denoiser = stirred(DnCNN(1, 4, 6))
    batch = images()
    torch.testing.assert_close(denoiser(batch), batch - denoiser.noise(batch))
    assert (denoiser(batch) - batch).abs().max() > 0.01


def test_the_sizes_by_name():
    assert [(DENOISERS[name].depth, DENOISERS[name].width) for name in ("dncnn", "dncnn-wide")] == [
        (17, 64),
        (17, 128),
    ]
    with pytest.raises(
        UnknownNameError, match="unknown denoiser 'unet'; known: dncnn, dncnn-small, dncnn-wide"
    ):
        DENOISERS["unet"]


@pytest.mark.parametrize("size", [{"depth": 1}, {"depth": 2.5}, {"depth": True}, {"width": 0}, {"width": -3}])
def test_a_wrong_size_is_refused(size):
    ((name, value),) = size.items()
    with pytest.raises(InvalidArgumentError, match=f"{name} of a denoiser must be .*got {value!r}"):
        DnCNN(1, **size)


def test_the_classifier_is_frozen_and_stays_in_eval_mode():
    model = denoised()
    for mode in (True, False, True):
        model.train(mode)
        assert model.training == mode
        assert all(part.training == mode for part in model.denoiser.modules())
        assert not any(part.training for part in model.classifier.modules())
    assert not any(weight.requires_grad for weight in model.classifier.parameters())
    assert all(weight.requires_grad for weight in model.denoiser.parameters())


def test_answers_for_the_denoised_image():
    model, batch = denoised(), images()
    with torch.no_grad():
        assert torch.equal(model(batch), model.classifier(model.denoiser(batch)))
        assert not torch.equal(model(batch), model.classifier(batch))


def test_a_denoiser_in_train_mode_is_not_certified():
    model = denoised()
    model.denoiser.train()
    with pytest.raises(UnsoundModelError, match=r"train mode \(denoiser\)"):
        SmoothedClassifier(model, Gaussian(0.25), 10)


@pytest.mark.parametrize("engine", ["torch", pytest.param("onnx", marks=pytest.mark.slow)])
def test_engines_agree(engine):
    model, batch = denoised(), images(16)
    built = build_engine(engine, model, 10, batch[0])
    assert built.engine_name == engine
    if engine == "torch":
        assert built._run is not model, "folding was refused, so the engine is slower than it could be"
    with torch.no_grad():
        torch.testing.assert_close(built(batch)[:, 0], model(batch), rtol=0, atol=1e-4)


class Squeezed(nn.Module):
    def forward(self, batch):
        return batch[:, :, ::2, ::2]


@pytest.mark.parametrize(
    "denoiser, classifier_shape, message",
    [
        (Squeezed(), SHAPE, r"turns images of shape \(1, 8, 8\) into \(1, 4, 4\); it must keep the shape"),
        (DnCNN(3, 2, 4), SHAPE, r"does not take images of shape \(1, 8, 8\)"),
        (DnCNN(1, 2, 4), (1, 28, 28), r"takes images of shape \(1, 28, 28\), but .*\(1, 8, 8\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(denoiser, classifier_shape, message):
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        refuse_shapes(denoiser, classifier_shape, SHAPE)
    assert "\n" not in str(caught.value)


def test_looking_at_shapes_leaves_no_trace():
    denoiser = DnCNN(1, 4, 4)
    before = {name: value.clone() for name, value in denoiser.state_dict().items()}
    refuse_shapes(denoiser, SHAPE, SHAPE)
    assert denoiser.training
    assert all(torch.equal(value, before[name]) for name, value in denoiser.state_dict().items())


def test_a_half_space_behind_a_linear_denoiser_has_its_known_radius():
    """f(x) = [w.(Ax) > b] with A = 1/2 is the half-space w.x > 2b: the certificate may not pass its distance."""

    class Half(nn.Module):
        def forward(self, batch):
            return batch / 2

    behind = HalfSpace(CENTRE - 0.25)
    classifier = SmoothedClassifier(Denoised(Half(), behind).eval(), Gaussian(0.25), 2)
    image = torch.tensor([[[0.8, 0.3]]])  # at distance .8 - .5 = .3 from the border
    found = [classifier.certify(image, seed=seed, engine="torch") for seed in range(3)]
    assert all(one.predicted == 1 and 0.27 < one.radius <= 0.3 for one in found)
    assert np.ptp([one.radius for one in found]) > 0


def test_a_vote_costs_what_the_classifier_behind_costs():
    heads = create_model("convnet", num_classes=10, heads=3).eval()
    model = Denoised(DnCNN(1, 3, 4), heads).eval()
    assert build_engine("torch", model, 10, torch.zeros(1, 8, 8)).evaluations_per_vote == (3,)
    plain = Denoised(DnCNN(1, 3, 4), create_model("convnet", num_classes=10).eval()).eval()
    assert build_engine("torch", plain, 10, torch.zeros(1, 8, 8)).evaluations_per_vote == (1,)
