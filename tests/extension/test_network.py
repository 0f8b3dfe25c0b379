"""A network of another package: one file, listed, trained, certified, resumed and audited."""

import json

import pytest

from extension.installing import commands, install, python

GROUP = "smoothcert.networks.architectures"
NETWORK = '''"""Two linear layers that know where they can be cut."""

import torch
from torch import nn

from smoothcert.networks import Architecture


class TwoLayers(nn.Module):
    """A hidden layer of 32 and the answer."""

    def __init__(self, num_classes, input_shape):
        super().__init__()
        self.hidden = nn.Linear(int(torch.Size(input_shape).numel()), 32)
        self.answer = nn.Linear(32, num_classes)

    def forward(self, batch):
        return self.answer(self.hidden(batch.flatten(1)).relu())

    def stages(self):
        before = nn.Sequential(nn.Flatten(), self.hidden, nn.ReLU())
        return (("hidden", before), ("answer", self.answer))


TWO = Architecture("two linear layers", (1, 8, 8), TwoLayers)
'''
SHOW = """
import json, sys
import smoothcert as sc
from smoothcert.networks import MODELS
from smoothcert.store import Run
package = MODELS.package_of("two-layers")
several = sc.create_model("two-layers", num_classes=10, heads=3)
print(json.dumps([package.name, len(several.heads), Run.open(sys.argv[1]).manifest["model"]]))
"""


@pytest.mark.slow
def test_a_network_from_outside_is_listed_trained_certified_and_audited(tmp_path):
    site, model, run = tmp_path / "site", tmp_path / "model", tmp_path / "run"
    install(site, GROUP, "two_layers.py", NETWORK)
    certify = ("certify", model, "--n", 500, "--seed", 1, "--workers", 2, "--out", run)
    listed, trained, first, more, audited = commands(
        site,
        ("models",),
        ("train", "digits-gaussian", "--model", "two-layers", "--epochs", 1, "--seed", 1, "--out", model),
        ("stopped", *certify, "--first", 3),
        (*certify, "--first", 3, "--resume"),
        ("audit", run),
    )
    assert "two-layers" in listed[1]
    assert [part[0] for part in (trained, first, more, audited)] == [0, 130, 0, 0], (
        trained,
        first,
        more,
        audited,
    )
    package, heads, identity = json.loads(python(site, SHOW, str(run)))
    assert (package, heads) == ("outside", 3)
    assert identity
    (alone,) = commands(tmp_path, ("certify", model, "--first", 1, "--out", tmp_path / "other"))
    assert alone[0] == 2
    assert "unknown model 'two-layers'; known: alexnet" in alone[2]


@pytest.mark.slow
def test_one_that_cannot_be_built_is_one_sentence(tmp_path):
    code = """from smoothcert.networks import Architecture

BROKEN = Architecture("nothing", (1, 8, 8), lambda num_classes, input_shape: 1 / 0)
"""
    install(tmp_path / "site", GROUP, "broken.py", code)
    told, other = commands(tmp_path / "site", ("models",), ("models", "lenet"))
    assert (told[0], other[0]) == (2, 0), (told, other)
    assert "model 'broken' of package outside 1.2 cannot be built for 10 classes" in told[2]
    assert told[2].count("\n") == 1
