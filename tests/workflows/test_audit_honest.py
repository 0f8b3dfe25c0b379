"""An audit trusts what was really certified, whatever engine, procedure or law, and says what it cannot know."""

import shutil
import sqlite3
from contextlib import closing

import pytest
import torch

import smoothcert as sc
from marks import needs_compiler
from smoothcert.errors import InvalidArgumentError
from smoothcert.store.database import RunDatabase
from smoothcert.workflows import Trust, audit
from store.content import FILE, query
from workflows.forging import INDICES, PROCEDURES, seal_again


@pytest.mark.parametrize("fraction", [None, 1.0, 0.1])
@pytest.mark.parametrize("name", PROCEDURES)
def test_an_honest_run_is_trusted(name, fraction, runs, classifier):
    report = audit(runs / name, fraction=fraction, workers=1)  # finds model and data by itself
    assert report.trust is Trust.TRUSTED, report.line
    assert report.notes == []
    assert report.line.startswith(
        f"{runs / name} can be trusted: the certificates of all 6 of the images that "
    )
    votes = query(runs / name, "SELECT SUM(samples) FROM certificates")[0][0]
    assert report.redrawn == votes if fraction == 1 else 64 <= report.redrawn <= votes


@pytest.mark.parametrize("noise", [sc.Gaussian(0.25), sc.GridGaussian(0.25)], ids=lambda law: law.law_name)
def test_a_runner_up_is_trusted_at_any_alpha(noise, classifier, digits, tmp_path):
    smoothed = sc.SmoothedClassifier(classifier.model, noise, 10)
    procedure, run = sc.FixedSample(n0=100, n=3_000, runner_up=True), tmp_path / "run"
    found = sc.certify(
        smoothed, digits, procedure=procedure, alpha=1e-12, indices=INDICES, seed=7, out=run, workers=1
    )
    assert (found.results.radius > 0).any()
    assert audit(run, model=smoothed, workers=1).trust is Trust.TRUSTED


def test_without_its_model_a_run_is_neither_trusted_nor_not(runs, tmp_path):
    folder = shutil.copytree(runs / "group", tmp_path / "moved" / "away")
    report = audit(folder)
    assert report.trust is Trust.UNDECIDED
    assert "give its folder with --model" in report.line


def test_a_resumed_run_is_trusted(classifier, digits, tmp_path, monkeypatch):
    """Stopped inside an image, with its votes half counted."""
    monkeypatch.setattr("smoothcert.execution.runner.SAVE_SECONDS", 0)
    monkeypatch.setattr("smoothcert.sampling.schedule.JOB_SECONDS", 0)  # whatever the clock says
    options = {
        "procedure": PROCEDURES["fixed"],
        "seed": 7,
        "indices": INDICES,
        "workers": 1,
        "batch_size": 64,
    }
    save, calls = RunDatabase.save_unfinished, []

    def interrupted(self, states):
        save(self, states)
        calls.append(states)
        if len(calls) >= 3 and states:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunDatabase, "save_unfinished", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sc.certify(classifier, digits, out=tmp_path / "run", **options)
    assert query(tmp_path / "run", "SELECT * FROM unfinished") != []
    unfinished = audit(tmp_path / "run", workers=1)
    assert [f.kind for f in unfinished.findings] == ["images"]
    sc.certify(classifier, digits, out=tmp_path / "run", resume=True, **options)
    report = audit(tmp_path / "run", fraction=1.0, workers=1)
    assert report.trust is Trust.TRUSTED, report.line
    assert report.notes == []


def test_engines_ensembles_and_panels_are_trusted(classifier, digits, tmp_path):
    torch.manual_seed(0)
    other = sc.create_model("convnet", num_classes=10).eval()
    ensemble = sc.VotingEnsemble([classifier.model, other])
    early = sc.ConsensusEnsemble(ensemble, k=2)
    how = {"procedure": PROCEDURES["sequential"], "indices": INDICES, "workers": 1}
    for model, engine in ((ensemble, "torch"), (early, "torch"), (classifier.model, "onnx"), (early, "onnx")):
        out = tmp_path / f"{type(model).__name__}-{engine}"
        smoothed = sc.SmoothedClassifier(model, classifier.noise, 10)
        sc.certify(smoothed, digits, engine=engine, out=out, **how)
        report = audit(out, model=smoothed, workers=1)
        assert report.trust is Trust.TRUSTED, report.line
    panel = sc.Panel(early)
    outs = {name: tmp_path / name for name in panel.names}
    sc.certify_panel(sc.SmoothedClassifier(panel, classifier.noise, 10), digits, outs=outs, **how)
    for name, model in zip(panel.names, panel.classifiers, strict=True):
        for given in (model, panel):
            report = audit(outs[name], model=given, workers=1)
            assert report.trust is Trust.TRUSTED, report.line


@pytest.mark.slow
@needs_compiler
def test_a_compiled_run_is_trusted_and_its_engine_named(classifier, digits, tmp_path):
    """Two compilations of one network must cast the same votes, up to rounding."""
    run = tmp_path / "run"
    how = {"procedure": PROCEDURES["fixed"], "indices": INDICES, "seed": 7, "workers": 1}
    sc.certify(classifier, digits, engine="compiled", out=run, **how)
    assert "compiled" in query(run, "SELECT value FROM manifest WHERE field = 'engine'")[0][0]
    report = audit(run, fraction=1.0, workers=1)
    assert report.trust is Trust.TRUSTED, report.line
    assert report.notes == []


def test_uncounted_votes_and_other_laws_are_trusted(digits, tmp_path):
    """Votes for no class are stored, drawn again and compared like any other."""

    def doubtful(batch):
        score = batch.flatten(1)[:, :10]
        return torch.where(score.amax(dim=1, keepdim=True) < 0.3, torch.nan, score)

    for noise in (sc.Uniform(half_width=0.4), sc.Laplace(scale=0.2)):
        smoothed = sc.SmoothedClassifier(doubtful, noise, 10, on_nan="count")
        out = tmp_path / noise.law_name
        run = sc.certify(smoothed, digits, procedure=PROCEDURES["fixed"], indices=INDICES, out=out, workers=1)
        assert any(counts.unanswered for counts in run.final_counts)
        report = audit(out, model=smoothed, fraction=1.0, workers=1)
        assert report.trust is Trust.TRUSTED, report.line
        assert (
            "cannot prove its versions, engine, class names, times, nor" in report.line
        )  # votes do prove on_nan
        nothing = sc.SmoothedClassifier(doubtful, noise, 10)
        assert nothing.on_nan == "raise"  # the manifest decides, not the classifier that is handed in
        assert audit(out, model=nothing, workers=1).trust is Trust.TRUSTED


def test_an_audit_changes_nothing(runs):
    before = (runs / "fixed" / FILE).read_bytes()
    audit(runs / "fixed", workers=1)
    assert (runs / "fixed" / FILE).read_bytes() == before
    assert [path.name for path in (runs / "fixed").iterdir()] == [FILE]


@pytest.mark.parametrize(
    "noise", [sc.GridGaussian(0.25), sc.DiscreteReplacement(keep=0.8)], ids=lambda law: law.law_name
)
@pytest.mark.parametrize(
    "procedure", [sc.FixedSample(n=1_000), sc.Sequential(radii=(0, 1), max_samples=1_000)]
)
def test_laws_whose_formulas_the_audit_does_not_know_are_trusted_and_checked(
    noise, procedure, digits, tmp_path
):
    """By replaying their own code: a larger radius is still found."""
    procedure = (
        procedure
        if noise.norm == "l0" or isinstance(procedure, sc.FixedSample)
        else sc.Sequential(radius=0.1)
    )

    def brightness(batch):
        above = 10 * (batch.flatten(1).mean(dim=1, keepdim=True) - 0.6)
        return torch.cat([-above, above, torch.zeros(len(batch), 8) - 9], dim=1)

    smoothed = sc.SmoothedClassifier(brightness, noise, 10)
    run = sc.certify(
        smoothed, digits, procedure=procedure, indices=INDICES, seed=2, out=tmp_path / "run", workers=1
    )
    report = audit(tmp_path / "run", model=smoothed, fraction=1.0, workers=1)
    assert report.trust is Trust.TRUSTED, report.line
    assert run.results.radius.max() > 0
    with closing(sqlite3.connect(tmp_path / "run" / FILE)) as connection, connection:
        connection.execute("UPDATE certificates SET radius = radius + 1 WHERE radius > 0")
    seal_again(tmp_path / "run")
    report = audit(tmp_path / "run", model=smoothed, workers=1)
    assert "the stored radius is" in report.line


@pytest.mark.parametrize(
    "options, words",
    [
        ({"fraction": "1"}, "fraction must be a share from 0 to 1, got '1'"),
        ({"fraction": True}, "fraction must be a share"),
        ({"fraction": float("nan")}, "fraction must be a share"),
        ({"batch_size": 6.4}, "batch_size must be a positive integer"),
        ({"model": 5}, "model must be a folder, a classifier, a callable"),
    ],
)
def test_what_cannot_be_audited_by_is_refused(options, words, runs):
    with pytest.raises(InvalidArgumentError, match=words):
        audit(runs / "fixed", **options)
