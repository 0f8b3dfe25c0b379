"""OpenVINO gives the model's own answers in float32, to any threads, and hides nothing that is no number."""

import logging
import sys
import threading

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper
from tests.own_models import nearest_mean, onnx_model, save_onnx
from torch import nn

import smoothcert as sc
from marks import needs_openvino
from smoothcert.engines import ENGINES, EngineUnavailableError, build_engine
from smoothcert.engines.onnx_export import exported
from smoothcert.engines.runtimes import openvino as runtime
from smoothcert.errors import CheckpointError, ManifestMismatchError
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.networks import OnnxNetwork
from smoothcert.networks.onnx_files import openvino_graph
from smoothcert.networks.onnx_files.openvino_graph import OpenvinoGraph, imported_openvino
from smoothcert.store.database import RunDatabase
from smoothcert.workflows import Trust, audit

SHAPES = {"resnet8": (3, 16, 16), "panel": (1, 8, 8)}


def network(name="convnet", shape=(1, 8, 8), seed=0):
    """A network whose batch norms have seen data, as after training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = sc.create_model(name, num_classes=10, input_shape=shape).train()
        model(torch.rand(32, *shape))
    return model.eval().requires_grad_(False)


MODELS = {
    "resnet8": network("resnet8", SHAPES["resnet8"]),
    "panel": sc.Panel(sc.VotingEnsemble([network(seed=1), network(seed=2)])).eval(),
}


def faulty():
    """Torch's own layers, so that they are exported: numbers overflow in them where an image is bright."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        scaled = nn.Conv2d(4, 4, 3, padding=1)
        scaled.weight.data.mul_(1e37)
        return nn.Sequential(
            *(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), scaled, nn.ReLU(), nn.AvgPool2d(2)),
            *(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Tanh(), nn.Flatten(), nn.Linear(4, 10)),
        ).eval()


@pytest.fixture(scope="module")
def engines():
    return {
        name: build_engine("openvino", model, 10, torch.full(SHAPES[name], 0.5))
        for name, model in MODELS.items()
    }


def batch_of(name, rows, seed=0):
    return torch.rand(rows, *SHAPES[name], generator=torch.Generator().manual_seed(seed))


@needs_openvino
@pytest.mark.parametrize("name", MODELS)
def test_logits_agree_to_the_precision_of_float32(engines, name):
    """bfloat16, which OpenVINO would choose by itself on many processors, is off by a thousand times as much."""
    engine = engines[name]
    assert engine.engine_name == "openvino"
    for rows in (1, 16, 33, 200, engine.best_rows + 5):
        batch = batch_of(name, rows, rows)
        expected = MODELS[name](batch).reshape(rows, -1, 10)
        assert engine(batch).shape == expected.shape
        spread = float(expected.amax(-1).sub(expected.amin(-1)).median())
        assert float((engine(batch) - expected).abs().max()) <= 2e-5 * spread


@needs_openvino
def test_a_lower_precision_is_refused_when_compiling(engines, monkeypatch):
    core = imported_openvino().Core()
    if "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        pytest.skip("the processor has no bfloat16")
    monkeypatch.setitem(openvino_graph._PRECISIONS, "float32", {**openvino_graph._PRECISIONS["bfloat16"]})
    monkeypatch.setattr(openvino_graph, "_NAMES", {"float32": "f32"})
    with pytest.raises(CheckpointError, match="would calculate in bf16 here instead of float32"):
        engines["panel"]._graph._compiled(16)


@needs_openvino
def test_passes_have_few_sizes_and_little_is_filled_up(engines):
    graph = engines["panel"]._graph
    for rows in (*range(1, 300), 1023, 1024, 1025, 2500):
        passes = list(graph._passes(rows))
        assert {size for _, size in passes} <= {16, 64, 1024}
        starts = np.cumsum([0, *(size for _, size in passes)])
        assert [first for first, _ in passes] == list(starts[:-1])
        assert rows <= starts[-1] < rows + 16


@needs_openvino
def test_threads_that_ask_at_once_get_their_own_answers(engines):
    engine = engines["panel"]
    batches = [batch_of("panel", 16 + 13 * number, number) for number in range(12)]
    expected = [engine(batch) for batch in batches]
    kept, errors, gate = [], [], threading.Barrier(4)

    def ask(turns):
        try:
            gate.wait(10)
            mine = [(number, engine(batches[number])) for number in turns]
            kept.extend(mine)
        except Exception as error:
            errors.append(error)

    threads = [
        threading.Thread(target=ask, args=([(n * step) % 12 for n in range(24)],)) for step in (1, 5, 7, 11)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(kept) == 4 * 24
    assert all(torch.equal(answer, expected[number]) for number, answer in kept)


@needs_openvino
def test_votes_are_those_of_the_torch_engine_whatever_workers_and_batches():
    classifier = sc.SmoothedClassifier(MODELS["panel"].classifiers[0], sc.Gaussian(0.25), 10)
    how = {"procedure": sc.FixedSample(n=2_000), "seed": 2}
    image = batch_of("panel", 1)[0]
    found = [
        classifier.certify(image, engine="openvino", workers=workers, batch_size=rows, **how)
        for workers, rows in ((1, 50), (1, 1_000), (2, 256))
    ]
    assert [one.engine for one in found] == ["openvino"] * 3
    assert found[0].counts == found[1].counts == found[2].counts
    by_torch = classifier.certify(image, engine="torch", workers=1, **how).counts
    assert (
        abs(found[0].counts.votes - by_torch.votes).max() <= 2
    )  # a vote on a rounding error may fall either way


@needs_openvino
def test_what_is_no_number_or_infinite_comes_through(monkeypatch):
    model, image = faulty(), torch.full((1, 6, 6), 0.5)
    graph = exported(model, image)
    monkeypatch.setattr(runtime, "exported", lambda model, example: graph)
    engine = runtime.OpenvinoEngine(model, 10, image)
    strength = torch.tensor([1e-30, 1.0, 30.0, 300.0, 1e10, 1e30]).repeat_interleave(16)
    batch = strength.view(-1, 1, 1, 1) * torch.randn(96, 1, 6, 6, generator=torch.Generator().manual_seed(1))
    batch[0, 0, 3, 3], batch[1, 0, 0, 0], batch[2, 0, 5, 5] = torch.nan, torch.inf, -torch.inf
    with torch.no_grad():
        own = model(batch)
    shows = own.isnan().any(dim=1)
    assert 8 < int(shows.sum()) < 88
    assert torch.equal(engine(batch)[:, 0].isnan(), own.isnan())
    # The unsound twin: OpenVINO's own activations make votes of them, and are refused.
    monkeypatch.setattr(runtime, "with_nan_keeping_nodes", lambda content, pools: content)
    with pytest.raises(EngineUnavailableError, match="finite answer where the model's own is not"):
        runtime.OpenvinoEngine(model, 10, image)
    hidden = OpenvinoGraph(graph, None, image.shape, (16,)).run(batch)
    assert int(hidden.isnan().any(dim=1).sum()) < int(shows.sum())


@needs_openvino
def test_other_floats_than_float32_are_refused_by_name():
    model = onnx_model(
        *nearest_mean(),
        nodes=[
            helper.make_node("Cast", ["y"], ["wide"], to=TensorProto.DOUBLE),
            helper.make_node("Cast", ["wide"], ["w"], to=TensorProto.FLOAT),
        ],
    )
    model.graph.output[0].name = "w"
    with pytest.raises(CheckpointError, match="calculates in f64, and OpenVINO in float32"):
        OpenvinoGraph(model.SerializeToString(), None, (1, 8, 8), (16,))


@needs_openvino
def test_what_it_cannot_run_it_says(tmp_path):
    image = batch_of("panel", 1)[0]
    file = OnnxNetwork(read_onnx(save_onnx(tmp_path / "net.onnx")))

    hooked = OnnxNetwork(file.graph)
    hooked.register_forward_hook(lambda module, images, scores: scores.flip(1))

    class Own(nn.Module):
        def forward(self, batch):
            return batch.flatten(1)[:, :10]

    for model, reason in (
        (Own().eval(), "Own is code of your own"),
        (lambda batch: batch.flatten(1)[:, :10], "a function is no torch module"),
        (nn.Sequential(nn.Flatten(), nn.Linear(64, 10, device="meta")), "it is on meta"),
        (nn.Sequential(nn.AdaptiveMaxPool2d(2)), "AdaptiveMaxPool2d would hide what is no number"),
        (sc.VotingEnsemble([file, network()]).eval(), "a member is an ONNX file"),
        (hooked, "has a forward hook"),
    ):
        with pytest.raises(EngineUnavailableError, match=reason):
            ENGINES["openvino"](model, 10, image)
    content = file.graph.content
    with pytest.raises(CheckpointError, match="OpenVINO does not take it"):
        OpenvinoGraph(content[:50], None, (1, 8, 8), (16,))
    with pytest.raises(CheckpointError, match="OpenVINO would answer 16 images with 48 rows"):
        OpenvinoGraph(content, file.graph.output_name, (3, 8, 8), (16,))


def test_without_the_package_another_engine_runs_the_model_and_the_extra_is_named(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setitem(sys.modules, "openvino", None)
    file = OnnxNetwork(read_onnx(save_onnx(tmp_path / "net.onnx")))
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        assert build_engine("openvino", file, 10, batch_of("panel", 1)[0]).engine_name == "onnx"
    assert [record.getMessage() for record in caplog.records if record.name == "smoothcert"] == [
        "engine openvino cannot run this model: OpenVINO is not installed (pip install smoothcert[openvino]); "
        "running it with onnx"
    ]


@needs_openvino
def test_nothing_is_reported_to_anybody():
    """Its telemetry would tell a server of every import."""
    imported_openvino()
    assert "openvino_telemetry" not in sys.modules


@needs_openvino
def test_runs_are_resumed_and_audited_by_its_name(tmp_path, monkeypatch):
    digits = sc.load_dataset("digits")
    classifier = sc.SmoothedClassifier(
        OnnxNetwork(read_onnx(save_onnx(tmp_path / "net.onnx"))), sc.Gaussian(0.25), 10
    )
    how = {"procedure": sc.FixedSample(n0=20, n=300), "seed": 5, "workers": 1, "out": tmp_path / "run"}

    add, seen = RunDatabase.add, []

    def interrupted(self, certificate, label):
        if seen:
            raise KeyboardInterrupt
        seen.append(certificate.engine)
        add(self, certificate, label)

    with monkeypatch.context() as patch:
        patch.setattr(RunDatabase, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sc.certify(classifier, digits, indices=range(3), engine="openvino", **how)
    with pytest.raises(ManifestMismatchError, match="engine was 'openvino' and is now 'onnx'"):
        sc.certify(classifier, digits, indices=range(3), engine="onnx", resume=True, **how)
    run = sc.certify(classifier, digits, indices=range(3), resume=True, **how)
    assert (seen, run.manifest["engine"], len(run)) == (["openvino"], "openvino", 3)
    report = audit(tmp_path / "run", model=classifier, dataset=digits, fraction=1.0, workers=1)
    assert (report.trust, report.notes) == (Trust.TRUSTED, []), report.line
