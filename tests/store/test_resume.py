"""A run's identity: what may change between two starts, and what may not."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.errors import ManifestMismatchError, StoreError
from store.content import FILE, content, query

INDICES = (0, 2, 5, 9, 11, 19)
PROCEDURES = {
    "fixed": sc.FixedSample(n0=100, n=1_500),
    "staged": sc.Staged(radius=0.2, stages=(100, 500, 1_500)),
    "sequential": sc.Sequential(radii=(0, 0.25, 0.5), max_samples=1_500),
    "sequential-shared": sc.Sequential(radius=0.25, max_samples=1_500, n0=0),
    "group": sc.GroupSequential(radius=0.2, n=1_500),
}
SMALL = sc.Sequential(radii=(0, 0.25), max_samples=500)


@pytest.fixture
def certify(classifier, digits):
    """Certify a few digits; keyword arguments replace the usual ones."""

    def run(out, *, model=classifier, dataset=digits, **changes):
        options = {"procedure": SMALL, "seed": 7, "indices": INDICES, "workers": 1, **changes}
        return sc.certify(model, dataset, out=out, **options)

    return run


def other_weights(classifier):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return sc.SmoothedClassifier(sc.create_model("convnet", num_classes=10).eval(), classifier.noise, 10)


def changed_labels(digits):
    return replace(digits, labels=np.where(np.arange(len(digits)) == 499, 0, digits.labels))


CHANGES = {
    "seed": lambda c, d: {"seed": 8},
    "alpha": lambda c, d: {"alpha": 0.01},
    "noise.sigma": lambda c, d: {"model": sc.SmoothedClassifier(c.model, sc.Gaussian(0.5), 10)},
    "on_nan": lambda c, d: {"model": sc.SmoothedClassifier(c.model, c.noise, 10, on_nan="count")},
    "procedure.max_samples": lambda c, d: {"procedure": replace(SMALL, max_samples=501)},
    "procedure.radii": lambda c, d: {"procedure": replace(SMALL, radii=(0, 0.5))},
    "procedure.name": lambda c, d: {"procedure": sc.FixedSample(n=500)},
    "indices": lambda c, d: {"indices": INDICES[:-1]},
    "dataset.digest": lambda c, d: {"dataset": changed_labels(d)},
    "model": lambda c, d: {"model": other_weights(c)},
}


@pytest.mark.parametrize("field", CHANGES)
def test_another_manifest_is_refused_by_field(field, certify, classifier, digits, tmp_path):
    out = tmp_path / "run"
    certify(out)
    before = (out / FILE).read_bytes()
    with pytest.raises(
        ManifestMismatchError, match=rf"[:;] {re.escape(field)} was .* and is now "
    ) as refusal:
        certify(out, resume=True, **CHANGES[field](classifier, digits))
    if "procedure" not in field:
        assert str(refusal.value).count(" and is now ") == 1
    assert (out / FILE).read_bytes() == before
    assert [path.name for path in out.iterdir()] == [FILE]


def test_every_differing_field_is_named(certify, classifier, digits, tmp_path):
    certify(tmp_path / "run")
    fields = ("seed", "alpha", "noise.sigma", "indices", "procedure.max_samples")
    changes = {}
    for field in fields:
        changes |= CHANGES[field](classifier, digits)
    with pytest.raises(ManifestMismatchError) as refusal:
        certify(tmp_path / "run", resume=True, **changes)
    assert [field for field in fields if f" {field} was " in str(refusal.value)] == list(fields)
    assert str(refusal.value).count(" and is now ") == len(fields)


def test_without_a_seed_the_recorded_one_is_used(certify, tmp_path):
    out = tmp_path / "run"
    first = certify(out, seed=None)
    assert first.manifest["seed"] != certify(tmp_path / "other", seed=None).manifest["seed"]
    assert certify(out, seed=None, resume=True).manifest == first.manifest
    assert content(out) == content_of_seed(certify, tmp_path / "again", int(first.manifest["seed"]))


def content_of_seed(certify, out, seed):
    certify(out, seed=seed)
    return content(out)


def test_resuming_a_finished_run_changes_nothing(certify, tmp_path):
    out = tmp_path / "run"
    first = certify(out)
    rows = query(out, "SELECT * FROM certificates ORDER BY idx")  # times too
    before = content(out)
    again = certify(out, resume=True, workers=2, batch_size=64)
    assert content(out) == before
    assert query(out, "SELECT * FROM certificates ORDER BY idx") == rows
    assert again.column("seconds") == first.column("seconds")
    assert [path.name for path in out.iterdir()] == [FILE]


def test_resume_starts_what_does_not_exist(certify, tmp_path):
    certify(tmp_path / "run")
    certify(tmp_path / "new" / "deep" / "run", resume=True)
    (tmp_path / "empty").mkdir()
    certify(tmp_path / "empty", resume=True)
    assert content(tmp_path / "new" / "deep" / "run") == content(tmp_path / "run")
    assert content(tmp_path / "empty") == content(tmp_path / "run")


def test_without_resume_an_existing_run_is_left_alone(certify, tmp_path):
    certify(tmp_path / "run")
    before = (tmp_path / "run" / FILE).read_bytes()
    with pytest.raises(StoreError, match="already holds a run; continue it with resume"):
        certify(tmp_path / "run")
    assert (tmp_path / "run" / FILE).read_bytes() == before


@pytest.mark.parametrize("name", PROCEDURES)
def test_batches_and_workers_change_no_vote(name, certify, tmp_path):
    found = {}
    for batch_size, workers in ((50, 1), (1_000, 1), (None, 2), (50, 3), (1_000, 3)):
        out = tmp_path / f"{batch_size}-{workers}"
        certify(out, procedure=PROCEDURES[name], batch_size=batch_size, workers=workers)
        found[batch_size, workers] = content(out)
    first = found.pop((50, 1))
    for setting, other in found.items():
        assert other == first, setting
    outcomes = {row[2] for row in first["certificates"]}
    assert "CERTIFIED" in outcomes  # the images are not all of one kind, or the test would say little
    assert len(outcomes) > 1


def panel_of(classifier):
    """The trained network, a shifted copy of it, and their ensemble, under names of their own."""
    other = sc.create_model("convnet", num_classes=10)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        for mine, theirs in zip(other.parameters(), classifier.model.parameters(), strict=True):
            mine.copy_(theirs + 0.05 * torch.randn_like(theirs))
        for mine, theirs in zip(other.buffers(), classifier.model.buffers(), strict=True):
            mine.copy_(theirs)
    return sc.Panel(sc.VotingEnsemble([classifier.model, other.eval()]), names=["a", "b", "both"])


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_panel_gives_each_classifier_its_own_run(name, certify, classifier, digits, tmp_path):
    panel = panel_of(classifier)
    runs = sc.certify_panel(
        sc.SmoothedClassifier(panel, classifier.noise, 10),
        digits,
        outs={title: tmp_path / "panel" / title for title in panel.names},
        procedure=PROCEDURES[name],
        seed=7,
        indices=INDICES,
    )
    assert list(runs) == ["a", "b", "both"]
    for title, part in zip(panel.names, panel.classifiers, strict=True):
        alone = sc.SmoothedClassifier(part, classifier.noise, 10)
        certify(tmp_path / title, model=alone, procedure=PROCEDURES[name])
        assert content(tmp_path / "panel" / title) == content(tmp_path / title)
        assert runs[title].results.radius.tolist() == sc.Run.open(tmp_path / title).results.radius.tolist()
    assert content(tmp_path / "a")["counts"] != content(tmp_path / "b")["counts"]


def test_a_panel_that_died_between_two_databases_catches_up(classifier, digits, tmp_path, monkeypatch):
    """One classifier's image is stored, the next one's is not; partial states are being saved."""
    monkeypatch.setattr("smoothcert.execution.runner.SAVE_SECONDS", 0)
    panel = panel_of(classifier)

    def certify(base):
        outs = {title: base / title for title in panel.names}
        model = sc.SmoothedClassifier(panel, classifier.noise, 10)
        options = {"procedure": SMALL, "seed": 7, "indices": INDICES, "workers": 1, "batch_size": 64}
        sc.certify_panel(model, digits, outs=outs, resume=True, **options)
        return [content(out) for out in outs.values()]

    whole = certify(tmp_path / "whole")
    add, calls = sc.store.database.RunDatabase.add, []

    def interrupted(self, certificate, label):
        calls.append(certificate.index)
        if len(calls) == 5:
            raise KeyboardInterrupt
        add(self, certificate, label)

    with monkeypatch.context() as patch:
        patch.setattr(sc.store.database.RunDatabase, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            certify(tmp_path / "stopped")
    stored = [len(query(tmp_path / "stopped" / title, "SELECT * FROM certificates")) for title in panel.names]
    assert stored == [2, 1, 1]
    assert certify(tmp_path / "stopped") == whole


def test_the_manifest_says_what_decided_the_votes(certify, tmp_path):
    certify(tmp_path / "run", seed=2**128 - 1)
    manifest = {
        field: json.loads(value) for field, value in query(tmp_path / "run", "SELECT * FROM manifest")
    }
    assert manifest["seed"] == str(2**128 - 1)
    assert (manifest["alpha"], manifest["engine"], manifest["indices"]) == (0.001, "torch", list(INDICES))
    assert manifest["procedure"]["radii"] == [0, 0.25]
    assert manifest["noise"] == {"name": "gaussian", "sigma": 0.25}
