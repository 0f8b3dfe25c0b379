"""An audit trusts what was really certified, and finds every value that somebody changed afterwards."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch

import smoothcert as sc
from marks import needs_compiler
from smoothcert.errors import StoreError
from smoothcert.store import Trust, audit
from smoothcert.store.database import RunDatabase
from smoothcert.store.schema import SCHEMA, _name, _plain, foreign_tables
from store.content import FILE, query
from store.forging import INDICES, PROCEDURES, better_certificate, certified, moved_votes, seal_again


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


def test_every_single_column_is_sealed(forge, runs):
    """Also values that nothing follows from, such as seconds."""
    report = forge("fixed", "UPDATE certificates SET seconds = 1 WHERE idx = 9")
    assert [(f.kind, f.image) for f in report.findings] == [("seal", 9)]
    report = forge("fixed", "DELETE FROM seals WHERE idx = 9")
    assert ("seal", 9) in [(f.kind, f.image) for f in report.findings]


def test_a_count_that_its_votes_do_not_give_is_found(forge, runs):
    index, _, predicted = certified(runs / "fixed")
    _, (_, counts) = moved_votes(runs / "fixed", index, "estimate", 5, chosen=predicted)
    report = forge("fixed", counts, seal=True)
    assert ("proof", index) in [(f.kind, f.image) for f in report.findings]
    assert "are not those of the stored votes" in report.line


def test_a_forgery_that_fits_together_is_found_by_drawing_again(forge, runs, classifier):
    """Votes, counts, bound, radius and seals are changed as the software itself would have written them."""
    index, radius, _ = certified(runs / "fixed")
    statements = better_certificate(runs / "fixed", index, classifier.noise, 20)
    assert statements[-1][1][1] > radius
    report = forge("fixed", *statements, seal=True, fraction=1.0)
    assert [(f.kind, f.image) for f in report.findings] == [("votes", index)]
    assert report.findings[0].text.startswith(
        "20 re-drawn votes differ from the stored ones (logit gaps from"
    )
    assert forge("fixed", *statements, seal=True, fraction=0).trust is Trust.UNDECIDED


@pytest.mark.parametrize("change", ["/ 2", "* 2", "- 1"])
def test_a_cost_that_its_votes_did_not_have_is_found(change, forge):
    """Certificates, counts and seals agree with each other; only what a vote costs tells."""
    for name in ("fixed", "staged", "anytime"):
        cheaper = [
            f"UPDATE {table} SET evaluations = evaluations {change}" for table in ("certificates", "counts")
        ]
        report = forge(name, *cheaper, seal=True)
        assert ("cost", 5) in [(f.kind, f.image) for f in report.findings]


def test_a_cost_that_an_early_exit_could_have_had_is_found_by_drawing_all_again(classifier, digits, tmp_path):
    torch.manual_seed(0)
    others = [sc.create_model("convnet", num_classes=10).eval() for _ in range(2)]
    early = sc.ConsensusEnsemble(sc.VotingEnsemble([classifier.model, *others]), k=2)
    smoothed, run = sc.SmoothedClassifier(early, classifier.noise, 10), tmp_path / "run"
    sc.certify(smoothed, digits, procedure=PROCEDURES["fixed"], indices=INDICES, seed=7, out=run, workers=1)
    how = {"model": smoothed, "workers": 1}
    samples, spent = query(run, "SELECT samples, evaluations FROM certificates WHERE idx = 5")[0]
    assert 2 * samples < spent < 3 * samples  # not all votes leave early
    assert audit(run, fraction=1.0, **how).trust is Trust.TRUSTED
    with closing(sqlite3.connect(run / FILE)) as connection, connection:
        for table, part in (("certificates", ""), ("counts", "AND phase = 'estimate'")):
            connection.execute(f"UPDATE {table} SET evaluations = evaluations - 50 WHERE idx = 5 {part}")
    seal_again(run)
    assert [(f.kind, f.image) for f in audit(run, fraction=1.0, **how).findings] == [("cost", 5)]
    with closing(sqlite3.connect(run / FILE)) as connection, connection:  # more than all members cost
        for table, part in (("certificates", ""), ("counts", "AND phase = 'estimate'")):
            connection.execute(f"UPDATE {table} SET evaluations = evaluations + 5000 WHERE idx = 5 {part}")
    seal_again(run)
    assert ("cost", 5) in [(f.kind, f.image) for f in audit(run, fraction=0.01, **how).findings]


def _swap_columns(table, one, other):
    steps = ((one, "t"), (other, one), ("t", other))
    return [f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}" for old, new in steps]


@pytest.mark.parametrize(
    "statements",
    [
        _swap_columns("certificates", "radius", "samples"),
        _swap_columns("certificates", "label", "predicted"),
        [
            "ALTER TABLE certificates RENAME TO kept",
            "CREATE VIEW certificates AS SELECT idx, label, outcome, predicted, CASE WHEN julianday('now') > 9e6 "
            "THEN 10 * radius ELSE radius END AS radius, p_lower, samples, evaluations, seconds FROM kept",
        ],
        ["CREATE TRIGGER t AFTER DELETE ON unfinished BEGIN UPDATE certificates SET radius = 1; END"],
        ["DROP TABLE unfinished"],
    ],
    ids=["radius-samples", "label-class", "view", "trigger", "missing"],
)
def test_tables_that_show_each_reader_another_value_are_found_and_refused(statements, forge, tmp_path):
    """Rows are the same, so every seal fits: what has changed is which name or which moment reads what."""
    report = forge("fixed", *statements, fraction=1.0)
    assert report.trust is Trust.NOT_TRUSTED, report.line
    assert "other readers may see other values" in report.line
    with pytest.raises(StoreError, match="changed by another program"):
        sc.Run.open(tmp_path / "forged")


def test_counts_under_other_numbers_are_found(forge):
    """By these a reader finds the votes that chose the class: the bounding votes must not stand in their place."""
    report = forge("runner-up", "UPDATE counts SET position = position + 1 WHERE position = 1", seal=True)
    assert "its counts are not numbered from 0" in report.line
    report = forge("runner-up", "UPDATE counts SET position = position - 1", seal=True)
    assert "its counts are not numbered from 0" in report.line


@pytest.mark.parametrize("noise", [sc.Gaussian(0.25), sc.GridGaussian(0.25)], ids=lambda law: law.law_name)
def test_a_runner_up_is_trusted_at_any_alpha(noise, classifier, digits, tmp_path):
    smoothed = sc.SmoothedClassifier(classifier.model, noise, 10)
    procedure, run = sc.FixedSample(n0=100, n=3_000, runner_up=True), tmp_path / "run"
    found = sc.certify(
        smoothed, digits, procedure=procedure, alpha=1e-12, indices=INDICES, seed=7, out=run, workers=1
    )
    assert (found.results.radius > 0).any()
    assert audit(run, model=smoothed, workers=1).trust is Trust.TRUSTED


def test_swapped_images_are_found(forge):
    swap = [
        f"UPDATE {table} SET idx = CASE idx WHEN 5 THEN -9 WHEN 9 THEN 5 ELSE idx END"
        for table in ("certificates", "counts", "votes", "seals")
    ] + [
        f"UPDATE {table} SET idx = 9 WHERE idx = -9" for table in ("certificates", "counts", "votes", "seals")
    ]
    for seal in (False, True):
        report = forge("fixed", *swap, "UPDATE certificates SET label = 0 WHERE idx IN (5, 9)", seal=seal)
        assert {f.image for f in report.findings if f.image is not None} >= {5, 9}


def test_another_model_or_data_set_is_found(runs, classifier, digits):
    other = sc.create_model("convnet", num_classes=10).eval()
    report = audit(runs / "fixed", model=other)
    assert [f.kind for f in report.findings] == ["model"]
    labels = np.where(np.arange(len(digits)) == 499, 0, digits.labels)
    report = audit(runs / "fixed", dataset=replace(digits, labels=labels))
    assert [f.kind for f in report.findings] == ["data"]
    pixels = digits.images.copy()
    pixels[499, 0, 0, 0] ^= 1
    assert [f.kind for f in audit(runs / "fixed", dataset=replace(digits, images=pixels)).findings] == [
        "data"
    ]


def test_without_its_model_a_run_is_neither_trusted_nor_not(runs, tmp_path):
    folder = shutil.copytree(runs / "group", tmp_path / "moved" / "away")
    report = audit(folder)
    assert report.trust is Trust.UNDECIDED
    assert "give its folder with --model" in report.line


def test_a_field_that_no_run_has_is_found(forge):
    report = forge("fixed", "INSERT INTO manifest VALUES ('norm_of_noise', '\"linf\"')", seal=True)
    assert any("it has a field that no run has: 'norm_of_noise'" in str(f) for f in report.findings)
    report = forge("fixed", "DELETE FROM manifest WHERE field = 'input_shape'", seal=True)
    assert any("it lacks the field 'input_shape'" in str(f) for f in report.findings)


@pytest.mark.parametrize("name", PROCEDURES)
@pytest.mark.parametrize("lost", ["votes", "seals"])
def test_a_run_that_lost_its_votes_or_seals_is_not_trusted_whatever_is_drawn_again(name, lost, forge):
    """Counts that nobody can hold against votes may be anything that adds up."""
    kind, words = {"votes": ("proof", "its votes are missing"), "seals": ("seal", "its seal is missing")}[
        lost
    ]
    for where in ("", " WHERE idx = 5"):
        report = forge(name, f"DELETE FROM {lost}{where}", seal=lost == "votes", fraction=1.0)
        assert report.trust is Trust.NOT_TRUSTED, report.line
        found = [f.image for f in report.findings if f.kind == kind and words in f.text]
        assert found == ([5] if where else list(INDICES))
    bare = ("DELETE FROM votes", "DELETE FROM seals")
    assert forge(name, *bare, fraction=1.0).trust is Trust.NOT_TRUSTED


def test_a_resumed_run_is_trusted(classifier, digits, tmp_path, monkeypatch):
    """Stopped inside an image, with its votes half counted."""
    monkeypatch.setattr("smoothcert.execution.runner.SAVE_SECONDS", 0)
    monkeypatch.setattr("smoothcert.sampling.scheduler.JOB_SECONDS", 0)  # whatever the clock says
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


ODD = ("'x'", "-1", "1e300", "99999999999", "x'00'", "''")


@pytest.mark.slow
def test_no_odd_value_stops_an_audit(forge, runs):
    """Whatever stands in a column or field, the audit ends with a verdict, and not a good one."""
    tables = {
        "certificates": "label outcome predicted radius p_lower samples evaluations seconds",
        "counts": "position phase purpose radius drawn evaluations votes",
        "votes": "phase packed",
        "seals": "digest",
    }
    for table, columns in tables.items():
        for column in columns.split():
            for number, value in enumerate(ODD):
                if column == "position" or (table, column) == ("votes", "phase"):
                    where = f"rowid = (SELECT MIN(rowid) FROM {table})"  # part of a key
                else:
                    where = "idx = 5"
                statement = f"UPDATE {table} SET {column} = {value} WHERE {where}"
                report = forge(
                    "sequential", statement, seal=bool(number % 2) and table != "seals", fraction=0.05
                )
                if column not in (
                    "seconds",
                    "position",
                ):  # which nothing follows from once it is sealed again
                    assert report.trust is Trust.NOT_TRUSTED, (statement, report.line)
    for field, _ in query(runs / "sequential", "SELECT * FROM manifest"):
        for value in ("null", "-1", '"x"', "[]", "{}", "[-5]", '{"name": "x"}'):
            statement = ("UPDATE manifest SET value = ? WHERE field = ?", (value, field))
            report = forge("sequential", statement, seal=False, fraction=0.05)
            assert report.trust is Trust.NOT_TRUSTED, (statement, report.line)


def test_only_indexes_of_sqlite_itself_are_passed_over():
    tables = [("table", _name(statement), _plain(statement)) for statement in SCHEMA]
    index = ("index", "sqlite_autoindex_counts_1", None)
    assert list(foreign_tables([*tables, index])) == []
    trigger = (
        "trigger",
        "sqlite_autoindex_t",
        "CREATE TRIGGER sqlite_autoindex_t AFTER INSERT ON counts BEGIN END",
    )
    assert list(foreign_tables([*tables, trigger])) == ["trigger 'sqlite_autoindex_t' belongs to no run"]
