"""Every engine gives the model's own answers, to 1e-4, on any number of rows; what it cannot run it says."""

import logging

import pytest
import torch
from torch import nn

import smoothcert as sc
from marks import needs_compiler
from smoothcert.engines import ENGINES, EngineUnavailableError, TorchEngine, build_engine, engine_rule
from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.runtimes.torch import folded
from smoothcert.errors import UnknownNameError

EXACT = ["torch", "onnx", "eager"]  # `compiled` needs minutes for some models: it has a test of its own
IMAGE = torch.rand(1, 8, 8, generator=torch.Generator().manual_seed(0))


def network(name="convnet", shape=(1, 8, 8), seed=0):
    """A network whose batch norms have seen data, as after training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = sc.create_model(name, num_classes=10, input_shape=shape).train()
        for _ in range(3):
            model(torch.rand(32, *shape))
    return model.eval()


class Branching(nn.Module):
    """Control flow that depends on the image: a traced copy would keep one branch."""

    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, batch):
        return self.inner(batch) if batch.sum() > 0 else -self.inner(batch)


MODELS = {
    "convnet": network(),
    "ensemble": sc.VotingEnsemble([network(seed=1), network(seed=2)], weights=[1, 2]).eval(),
    "panel": sc.Panel(sc.VotingEnsemble([network(seed=1), network(seed=2)])).eval(),
    "resnet8": network("resnet8", (3, 16, 16)),
    "lenet": network("lenet", (1, 28, 28)),
}
SHAPES = {"resnet8": (3, 16, 16), "lenet": (1, 28, 28)}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", EXACT)
def test_logits_agree_with_the_model(engine, name):
    model, shape = MODELS[name], SHAPES.get(name, (1, 8, 8))
    built = build_engine(engine, model, 10, torch.full(shape, 0.5))
    assert built.engine_name == engine
    for rows in (1, 16, 33, 200):
        batch = torch.rand(rows, *shape, generator=torch.Generator().manual_seed(rows))
        with torch.no_grad():
            expected = model(batch)
        expected = expected if name == "panel" else expected.unsqueeze(1)
        found = built(batch)
        scale = max(1.0, float(expected.abs().max()))
        assert found.shape == expected.shape
        assert float((found - expected).abs().max()) <= 1e-4 * scale


@pytest.mark.slow
@needs_compiler
def test_compiled_agrees_and_serves_several_threads():
    model = MODELS["convnet"]
    built = build_engine("compiled", model, 10, IMAGE)
    assert built.engine_name == "compiled"
    batch = torch.rand(70, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(built(batch)[:, 0], model(batch), rtol=0, atol=1e-4)
    how = {"seed": 4, "index": 1}
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.25), 10)
    counts = [
        classifier.certify(IMAGE, sc.FixedSample(n=3_000), engine=engine, workers=2, **how).counts
        for engine in ("compiled", "torch")
    ]
    assert abs(counts[0].votes - counts[1].votes).max() <= 2  # a vote on a rounding error may fall either way


@pytest.mark.parametrize("engine", EXACT)
def test_the_same_votes_whatever_workers_and_batches(engine):
    classifier = sc.SmoothedClassifier(MODELS["ensemble"], sc.Gaussian(0.25), 10)
    found = [
        classifier.certify(
            IMAGE, sc.FixedSample(n=2_000), seed=2, engine=engine, workers=w, batch_size=b
        ).counts
        for w, b in ((1, 50), (1, 1_000), (2, 256))
    ]
    assert found[0] == found[1] == found[2]


def test_autocast_is_another_classifier_and_says_so():
    classifier = sc.SmoothedClassifier(MODELS["convnet"], sc.Gaussian(0.25), 10)
    certificate = classifier.certify(IMAGE, sc.FixedSample(n=500), seed=1, engine="autocast", workers=1)
    assert certificate.engine == "autocast"
    logits = build_engine("autocast", MODELS["convnet"], 10, IMAGE)(IMAGE.expand(16, 1, 8, 8))
    assert torch.isfinite(logits).all()
    assert not torch.equal(
        logits, build_engine("torch", MODELS["convnet"], 10, IMAGE)(IMAGE.expand(16, 1, 8, 8))
    )


def test_the_callers_autocast_does_not_reach_the_votes():
    engine = TorchEngine(MODELS["convnet"], 10, IMAGE)
    batch = torch.rand(32, 1, 8, 8, generator=torch.Generator().manual_seed(3))
    plain = engine(batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(engine(batch), plain)


def test_what_cannot_be_exported_falls_back_with_one_line(caplog):
    model = Branching().eval()
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        built = build_engine("onnx", model, 10, IMAGE)
    assert built.engine_name == "torch"
    told = [record.getMessage() for record in caplog.records if record.name == "smoothcert"]
    assert len(told) == 1
    assert "is code of your own" in told[0]
    assert "\n" not in told[0]
    with torch.no_grad():  # and the branch is kept, in both directions
        batch = IMAGE.expand(16, 1, 8, 8)
        torch.testing.assert_close(built(batch)[:, 0], model(batch), rtol=0, atol=1e-4)
        torch.testing.assert_close(built(-batch)[:, 0], model(-batch), rtol=0, atol=1e-4)


def test_folding_changes_the_copy_and_not_the_model():
    model = network(seed=5)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    copy = folded(model, IMAGE)
    assert not any(isinstance(part, nn.BatchNorm2d) for part in copy.modules())
    assert any(isinstance(part, nn.BatchNorm2d) for part in model.modules())
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_an_engine_with_other_answers_is_refused():
    model = MODELS["convnet"]
    with pytest.raises(EngineUnavailableError, match="differ from the model's by"):
        refuse_other_answers(lambda batch: model(batch) + 0.01, model, IMAGE)
    with pytest.raises(EngineUnavailableError, match="shape"):
        refuse_other_answers(lambda batch: model(batch)[:16], model, IMAGE)


def test_without_a_clock_auto_is_a_fixed_rule():
    model = MODELS["convnet"]
    assert engine_rule("auto", model, IMAGE) == "torch"
    assert engine_rule("auto", lambda batch: batch, IMAGE) == "callable"
    assert engine_rule("onnx", model, IMAGE) == "onnx"
    with pytest.raises(
        UnknownNameError, match="known: auto, autocast, callable, compiled, eager, onnx, openvino, torch"
    ):
        engine_rule("tensorrt", model, IMAGE)


def test_changed_weights_are_never_run_by_an_old_engine():
    model = network(seed=6)
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.25), 10)
    how = {"procedure": sc.FixedSample(n=300), "seed": 1, "engine": "onnx", "workers": 1}
    before = classifier.certify(IMAGE, **how)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-1)
    after = classifier.certify(IMAGE, **how)
    assert after.model != before.model
    assert after.counts == sc.SmoothedClassifier(model, sc.Gaussian(0.25), 10).certify(IMAGE, **how).counts
    assert after.counts != before.counts


def test_every_engine_is_tested():
    elsewhere = {"callable", "openvino"}  # in test_own_answers.py and test_openvino.py
    assert set(ENGINES) == {*EXACT, "compiled", "autocast", *elsewhere}


def test_a_network_that_onnx_runtime_does_not_take_falls_back_with_one_line(caplog):
    """Weights in double precision: a graph that the exporter makes and the runtime refuses."""

    class Double(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(64, 10).double()

        def forward(self, batch):
            return self.linear(batch.flatten(1).double())

    model = Double().eval()
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        built = build_engine("onnx", model, 10, IMAGE)
    with torch.no_grad():
        torch.testing.assert_close(built(IMAGE.expand(16, 1, 8, 8))[:, 0], model(IMAGE.expand(16, 1, 8, 8)))
    assert len(caplog.records) <= 1
