"""Engines of another package: an honest one is used to the end, and one that lies is refused, however it lies."""

import json

import pytest

from extension.installing import commands, install, python

GROUP = "smoothcert.engines.runtimes"
HONEST = '''"""The model in float64, for whoever has the time."""

import copy

import torch

from smoothcert.engines import Engine, EngineUnavailableError


class DoubleEngine(Engine):
    """A copy of a module in double precision."""

    def __init__(self, model, num_classes, example):
        super().__init__(model, num_classes, example)
        if not isinstance(model, torch.nn.Module):
            raise EngineUnavailableError("only torch modules are copied")
        self._run = copy.deepcopy(model).double()

    @torch.inference_mode()
    def forward(self, batch):
        return self._run(batch.double())
'''
LIAR = '''"""Answers that are not the model's."""

import torch

from smoothcert.engines import Engine


class Liar(Engine):
    """Turns the classes around in what it votes with."""

    {name}

    def __init__(self, model, num_classes, example):
        super().__init__(model, num_classes, example)
        self.as_is = {as_is}
        {extra}

    @torch.inference_mode()
    def forward(self, batch):
        logits = self.model(batch)
        return logits.flip(1) if {lies} else logits

    def exact_forward(self, batch):
        return self.model(batch)
'''
SHOW = """
import json, sys
from smoothcert.store import Run
run = Run.open(sys.argv[1])
print(json.dumps([run.manifest["engine"], run.to_frame()[["idx", "predicted"]].astype(str).values.tolist()]))
"""


def certified(model, run, engine, *options):
    return (
        "certify",
        model,
        "--n",
        500,
        "--seed",
        1,
        "--workers",
        2,
        "--engine",
        engine,
        "--out",
        run,
        *options,
    )


@pytest.mark.slow
def test_an_engine_from_outside_is_listed_used_resumed_and_audited(tmp_path, digit_models):
    site, run, own = tmp_path / "site", tmp_path / "run", tmp_path / "own"
    install(site, GROUP, "double.py", HONEST)
    help_text, first, more, audited, plain, chosen = commands(
        site,
        ("certify", "--help"),
        ("stopped", *certified(digit_models[0], run, "double", "--first", 3)),
        certified(digit_models[0], run, "double", "--first", 3, "--resume"),
        ("audit", run),
        certified(digit_models[0], own, "torch", "--first", 3),
        certified(digit_models[0], tmp_path / "auto", "auto", "--first", 3),
    )
    assert "double" in help_text[1]
    codes = [part[0] for part in (first, more, audited, plain, chosen)]
    assert codes == [130, 0, 0, 0, 0], (first, more, audited, plain, chosen)
    assert "cannot run" not in first[1] + first[2]
    (name, by_it), (_, by_torch) = (json.loads(python(site, SHOW, str(where))) for where in (run, own))
    assert name == "double"
    assert by_it == by_torch
    assert json.loads(python(site, SHOW, str(tmp_path / "auto")))[0] == "torch"  # never chosen unasked


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"as_is": "True"},
        {"lies": "len(batch) > 32"},
        {"name": 'registered_name = "torch"', "lies": "False"},
        {"extra": "raise RuntimeError('no such hardware')"},
        {"extra": "self.forward = lambda batch: self.model(batch).flip(1)", "lies": "False"},
        {"name": 'otherwise = "liar"'},
    ],
    ids=["plainly", "as is", "large batches", "by name", "raises", "on the instance", "names itself"],
)
def test_an_engine_that_lies_is_refused_and_another_runs_the_model(how, tmp_path):
    site = tmp_path / "site"
    install(
        site,
        GROUP,
        "liar.py",
        LIAR.format(**{"name": "", "as_is": "False", "extra": "", "lies": "True", **how}),
    )
    script = """
import logging, torch
import smoothcert as sc
from smoothcert.engines import build_engine
logging.basicConfig(format="%(message)s")
model = sc.create_model("convnet", num_classes=10).eval()
for noise in (None, sc.Gaussian(0.25)):
    print(build_engine("liar", model, 10, torch.rand(1, 8, 8), noise).engine_name)
"""
    assert python(site, script).split() == ["torch", "torch"]


@pytest.mark.slow
def test_one_that_lies_about_later_images_is_found_out(tmp_path):
    """Honest on dark images, as the first ones are: the spot checks of a run ask the way that votes take."""
    site = tmp_path / "site"
    lies = "float(batch.mean()) > 0.7"
    install(site, GROUP, "liar.py", LIAR.format(name="", as_is="True", extra="", lies=lies))
    script = """
import sys, torch
import smoothcert as sc
from smoothcert.errors import EngineDisagreementError
from smoothcert.sampling import comparison
comparison._ONE_IN = 8
torch.manual_seed(3)
model = sc.create_model("convnet", num_classes=10).eval()
images = torch.cat([torch.full((4, 1, 8, 8), 0.3), torch.full((8, 1, 8, 8), 0.95)])
data = sc.Dataset.from_arrays(images, [0] * 12, class_names=[str(n) for n in range(10)])
classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.05), 10)
try:
    sc.certify(classifier, data, procedure=sc.FixedSample(n=2_000), seed=1, engine="liar", out=sys.argv[1])
except EngineDisagreementError as error:
    print("refused", len(sc.Run.open(sys.argv[1])))
"""
    assert python(site, script, str(tmp_path / "run")).split() == ["refused", "0"]
