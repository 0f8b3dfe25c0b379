"""Attacks follow the gradient of any function that keeps one, and refuse others by name."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError
from smoothcert.workflows import attack_images

SIGMA, MARGIN = 0.25, 0.15
NORMAL = torch.tensor([0.5, -0.5, 0.5, -0.5])
FAST = {"steps": 5, "m": 16, "workers": 1, "n": 20_000, "seed": 1}


def plane(batch):
    """Class 1 on one side of a plane, to which any grey point is MARGIN away."""
    score = batch.flatten(1) @ NORMAL + MARGIN
    return 10 * torch.stack([-score, score], dim=1)


def in_numpy(batch):
    score = batch.numpy().reshape(len(batch), -1) @ NORMAL.numpy() + np.float32(MARGIN)
    return np.stack([-score, score], axis=1)


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, batch):
        return self.function(batch)


POINTS = sc.Dataset.from_arrays(np.full((2, 4), 0.5, dtype=np.float32), np.ones(2, dtype=np.int64))


def smoothed(model):
    return sc.SmoothedClassifier(model, sc.Gaussian(SIGMA), 2)


FORMS = {
    "plain": plane,
    "dict": lambda batch: {"logits": plane(batch)},
    "1-tuple": lambda batch: (plane(batch),),
    "module of a dict": Module(lambda batch: {"logits": plane(batch)}).eval(),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_optimal_attack_on_a_half_space_is_found(form):
    above = attack_images(smoothed(FORMS[form]), POINTS, radii=(1.2 * MARGIN,), **FAST)
    assert (above.broken_at <= 1.2 * MARGIN).all()
    assert (above.broken_at > MARGIN).all()
    below = attack_images(smoothed(FORMS[form]), POINTS, radii=(0.9 * MARGIN,), **FAST)
    assert np.isinf(below.broken_at).all()


def test_a_function_is_attacked_as_its_module_is():
    found = [
        attack_images(smoothed(model), POINTS, radii=(0.2,), **FAST)
        for model in (plane, Module(plane).eval())
    ]
    assert [image.attempts for image in found[0].images] == [image.attempts for image in found[1].images]
    assert [one.settings["engine"] for one in found] == ["auto", "auto"]


def without_grad(batch):
    with torch.no_grad():
        return plane(batch)


DISCONNECTED = {
    "NumPy": (in_numpy, "in_numpy .*Can't call numpy"),
    "NumPy, detached": (lambda batch: in_numpy(batch.detach()), "it left torch, or detached them"),
    "no gradients": (without_grad, "without_grad .*it left torch, or detached them"),
    "labels": (lambda batch: torch.eye(2)[plane(batch).argmax(dim=1)], "it left torch"),
    "module of NumPy": (Module(in_numpy).eval(), "the model 'Module' .*Can't call numpy"),
    "estimator": (
        LogisticRegression().fit(np.eye(4), [0, 1, 0, 1]),
        r"the model Estimator\(LogisticRegression\) are not connected",
    ),
}


@pytest.mark.parametrize("name", DISCONNECTED)
def test_answers_without_a_gradient_are_refused_by_name_and_reason(name, tmp_path):
    model, words = DISCONNECTED[name]
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        attack_images(smoothed(model), POINTS, radii=(0.2,), out=tmp_path / "x", **FAST)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "x").exists()
