"""One classifier keeps to one engine: image by image, from certification to prediction, and when a run goes on."""

import numpy as np
import pytest
import torch
from tests.engines.twins import Twins
from torch import nn

import smoothcert as sc
from smoothcert.engines import choosing
from smoothcert.errors import ManifestMismatchError

POINTS = np.random.default_rng(0).random((3, 4096), dtype=np.float32)
DATASET = sc.Dataset.from_arrays(POINTS, np.zeros(3, dtype=np.int64), class_names=("a", "b", "c"))
FEW = {"procedure": sc.FixedSample(n0=20, n=300), "seed": 5, "workers": 1}


@pytest.fixture
def twins(monkeypatch):
    """Measuring may take longer than the job, so that the job can be short."""
    monkeypatch.setattr(choosing, "_TIMING_SHARE", 100.0)
    return Twins(monkeypatch).add("torch", 1e-3, setup=0.0).add("onnx", 5e-4)


def smoothed():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4096, 3)).eval()
    return sc.SmoothedClassifier(model, sc.Gaussian(0.25), 3)


def test_images_one_by_one_are_certified_and_predicted_by_one_choice(twins):
    classifier = smoothed()
    first = classifier.certify(POINTS[0], **FEW)
    assert first.engine == "onnx"
    reads, made = twins.clock.reads, list(twins.made)
    twins.costs["torch"] = 1e-9  # faster from now on
    assert [classifier.certify(POINTS[1], index=1, **FEW).engine for _ in range(2)] == ["onnx", "onnx"]
    tiny = {"alpha": 0.1, "seed": 1, "engine": "auto", "example": DATASET.image(0)}
    source = classifier.certification(sc.FixedSample(n0=1, n=1), **tiny)
    assert source.engine.engine_name == "onnx"
    twins.members["torch"].forward = None  # asked once more, it would fail
    classifier.predict(POINTS[0], 50, workers=1)
    assert (twins.clock.reads, twins.made) == (reads, made)


def test_other_weights_are_measured_anew(twins):
    classifier = smoothed()
    classifier.certify(POINTS[0], **FEW)
    reads = twins.clock.reads
    with torch.no_grad():
        classifier.model[0].bias.add_(1.0)
    classifier.certify(POINTS[0], **FEW)
    assert twins.clock.reads == 2 * reads


def test_votes_depend_on_the_engine_and_not_on_its_being_measured(twins):
    measured = smoothed().certify(POINTS[0], **FEW)
    named = smoothed().certify(POINTS[0], engine="onnx", **FEW)
    assert measured.counts == named.counts
    assert measured.vote_log == named.vote_log


def test_a_run_goes_on_with_the_engine_that_it_began_with(twins, tmp_path):
    how = {**FEW, "out": tmp_path / "run"}
    run = sc.certify(smoothed(), DATASET, **how)
    assert run.manifest["engine"] == "onnx"
    twins.costs.update(torch=1e-9, onnx=1.0)
    assert smoothed().certify(POINTS[0], **FEW).engine == "torch"
    reads = twins.clock.reads
    again = sc.certify(smoothed(), DATASET, **how, resume=True)
    assert again.manifest == run.manifest
    assert twins.clock.reads == reads
    with pytest.raises(ManifestMismatchError, match="engine was 'onnx' and is now 'torch'"):
        sc.certify(smoothed(), DATASET, **how, resume=True, engine="torch")


def test_a_run_says_which_engine_draws_its_votes_and_why(twins, capsys):
    sc.certify(smoothed(), DATASET, **FEW, show_progress=True)
    assert capsys.readouterr().err.splitlines()[0] == "engine onnx (500 µs per vote and core; torch 1 ms)"
    sc.certify(smoothed(), DATASET, **FEW, engine="torch", show_progress=True)
    assert capsys.readouterr().err.splitlines()[0] == "engine torch"
    sc.certify(smoothed(), DATASET, **FEW, show_progress=False)
    assert capsys.readouterr().err == ""
