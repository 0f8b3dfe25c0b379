"""Runs of models that a user brings along: certified, stopped, resumed and audited like any other."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import smoothcert as sc
from smoothcert.engines import ENGINES
from smoothcert.errors import InvalidArgumentError
from smoothcert.store.database import RunDatabase
from smoothcert.workflows import Trust

DIGITS = sc.load_dataset("digits", split="train")
PIXELS, LABELS = DIGITS.images[:300].reshape(300, -1) / np.float32(255), DIGITS.labels[:300]
TEST = sc.load_dataset("digits")
FEW = {"procedure": sc.FixedSample(n0=64, n=320), "indices": range(4), "seed": 3, "workers": 1}
NOISE = sc.Gaussian(0.15)


def pipeline():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)).fit(PIXELS, LABELS)


def ridge():
    return RidgeClassifier().fit(PIXELS, LABELS)


def in_numpy():
    fitted = pipeline()
    mean, scale = fitted[0].mean_, fitted[0].scale_
    weights, bias = fitted[1].coef_.T, fitted[1].intercept_
    return lambda batch: (batch.flatten(1).numpy() - mean) / scale @ weights + bias


def in_a_dict():
    function = in_numpy()
    return lambda batch: {"logits": torch.from_numpy(function(batch)), "features": batch.flatten(1)}


MODELS = {"pipeline": pipeline, "ridge": ridge, "NumPy": in_numpy, "dict": in_a_dict}


@pytest.mark.parametrize("name", MODELS)
def test_a_run_is_stopped_resumed_and_audited(name, tmp_path, monkeypatch):
    model = MODELS[name]()
    classifier = sc.SmoothedClassifier(model, NOISE, 10)
    whole = sc.certify(classifier, TEST, **FEW)
    assert whole.manifest["engine"] == "callable"
    assert whole.manifest["model"].endswith("/unsettled") == (name in ("NumPy", "dict"))

    add, added = RunDatabase.add, []

    def stops_after_two(self, certificate, label):
        if len(added) == 2:
            raise KeyboardInterrupt
        added.append(certificate)
        return add(self, certificate, label)

    with monkeypatch.context() as patch:
        patch.setattr(RunDatabase, "add", stops_after_two)
        with pytest.raises(KeyboardInterrupt):
            sc.certify(classifier, TEST, out=tmp_path, **FEW)
    resumed = sc.certify(sc.SmoothedClassifier(model, NOISE, 10), TEST, out=tmp_path, resume=True, **FEW)
    drop = {"columns": "seconds"}
    assert resumed.to_frame().drop(**drop).equals(whole.to_frame().drop(**drop))

    report = sc.audit(tmp_path, model=model, fraction=1.0, workers=1)
    assert (report.trust, report.findings) == (Trust.TRUSTED, [])
    assert report.redrawn == 4 * (64 + 320)
    other = sc.audit(tmp_path, model=MODELS["ridge" if name != "ridge" else "pipeline"](), workers=1)
    assert [finding.kind for finding in other.findings] == ["model"]


def test_all_ways_to_one_classifier_agree():
    """One fitted linear classifier by scikit-learn, by NumPy and in a dict: other arithmetic, the same votes."""
    runs = [
        sc.certify(sc.SmoothedClassifier(MODELS[name](), NOISE, 10), TEST, **FEW)
        for name in ("pipeline", "NumPy", "dict")
    ]
    columns = [run.to_frame()[["idx", "predicted", "radius"]] for run in runs]
    assert columns[0].equals(columns[1])
    assert columns[0].equals(columns[2])
    assert runs[0].certified_accuracy([0.0])[0] >= 0.5


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "callable"])
def test_other_engines_refuse_an_estimator_by_name(engine, tmp_path):
    classifier = sc.SmoothedClassifier(ridge(), NOISE, 10)
    with pytest.raises(
        InvalidArgumentError, match=f"engine {engine} cannot run this model: a Estimator is no torch"
    ):
        sc.certify(classifier, TEST, engine=engine, out=tmp_path / "x", **FEW)
    assert not (tmp_path / "x" / "run.sqlite").exists()
