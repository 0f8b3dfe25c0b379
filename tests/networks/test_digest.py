"""The weights digest sees every bit of every parameter and buffer, and nothing else."""

import hashlib

import pytest
import torch
from torch import nn

from smoothcert.networks import create_model, weights_digest


def test_definition():
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, -2.0]]))
        layer.bias.fill_(0.5)
    content = b'["bias", "torch.float32", [1]]\n\x00\x00\x00\x3f'
    content += b'["weight", "torch.float32", [1, 2]]\n\x00\x00\x80\x3f\x00\x00\x00\xc0'
    assert weights_digest(layer) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", list(create_model("convnet", num_classes=10).state_dict()))
def test_one_changed_value_changes_it(name):
    model = create_model("convnet", num_classes=10)
    before = weights_digest(model)
    model.state_dict()[name].reshape(-1)[-1] += 1
    assert weights_digest(model) != before


def test_mode_and_gradients_do_not_matter():
    model = create_model("convnet", num_classes=10)
    before = weights_digest(model)
    assert weights_digest(model.eval().requires_grad_(False)) == before


def test_half_precision_weights_have_a_digest():
    assert len(weights_digest(nn.Linear(3, 2).to(torch.bfloat16))) == 64
