"""An audit trusts what was really certified, and finds every value that somebody changed afterwards."""

import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch

import smoothcert as sc
from marks import needs_compiler
from smoothcert.errors import StoreError
from smoothcert.sampling import pack
from smoothcert.store import Trust, audit
from smoothcert.store.auditing.redraw import scale_of
from smoothcert.store.auditing.stored import read_stored
from smoothcert.store.database import RunDatabase
from smoothcert.store.schema import SCHEMA, _name, _plain, foreign_tables
from store.content import FILE, query

INDICES = (0, 2, 5, 9, 11, 19)
PROCEDURES = {
    "fixed": sc.FixedSample(n0=100, n=1_500),
    "runner-up": sc.FixedSample(n0=100, n=1_500, runner_up=True),
    "staged": sc.Staged(radius=0.2, stages=(100, 500, 1_500)),
    "sequential": sc.Sequential(radii=(0, 0.25, 0.5), max_samples=1_500),
    "sequential-shared": sc.Sequential(radius=0.25, max_samples=1_500, n0=0),
    "anytime": sc.Sequential(max_samples=1_500),
    "group": sc.GroupSequential(radius=0.2, n=1_500),
}


@pytest.fixture(scope="module")
def runs(classifier, digits, tmp_path_factory):
    """One run per procedure, never changed by a test."""
    base = tmp_path_factory.mktemp("runs")
    for name, procedure in PROCEDURES.items():
        sc.certify(
            classifier, digits, procedure=procedure, seed=7, indices=INDICES, out=base / name, workers=1
        )
    return base


@pytest.fixture
def forge(runs, classifier, tmp_path):
    """Copy a run, let somebody write into it, and return what the audit says; `seal` forges the seals too."""

    def change(name, *statements, seal=False, **options):
        folder = shutil.copytree(runs / name, tmp_path / "forged", dirs_exist_ok=True)
        with closing(sqlite3.connect(folder / FILE)) as connection, connection:
            for statement in statements:
                connection.execute(*((statement,) if isinstance(statement, str) else statement))
        if seal:
            _seal_again(folder)
        return audit(folder, **{"model": classifier, "workers": 1, "seed": 3, **options})

    return change


def _seal_again(folder):
    database = RunDatabase(folder, writable=False)
    stored = read_stored(database)
    database.close()
    with closing(sqlite3.connect(folder / FILE)) as connection, connection:
        for image in stored.images:
            connection.execute(
                "UPDATE seals SET digest = ? WHERE idx = ?", (stored.seal_of(image), image.index)
            )


def certified(folder, least=0.0):
    return query(
        folder, f"SELECT idx, radius, predicted FROM certificates WHERE radius > {least} ORDER BY idx"
    )[0]


@pytest.mark.parametrize("fraction", [None, 1.0, 0.1])
@pytest.mark.parametrize("name", PROCEDURES)
def test_an_honest_run_is_trusted(name, fraction, runs, classifier):
    report = audit(runs / name, fraction=fraction, workers=1)  # finds model and data by itself
    assert report.trust is Trust.TRUSTED, report.line
    assert report.notes == []
    assert report.line.startswith(f"{runs / name} can be trusted: all 6 certificates follow")
    votes = query(runs / name, "SELECT SUM(samples) FROM certificates")[0][0]
    assert report.redrawn == votes if fraction == 1 else 64 <= report.redrawn <= votes


# What a hand may change, by itself and with seals made to fit; every one must be found.
CHANGES = {
    "radius": ("fixed", "UPDATE certificates SET radius = radius * 1.01 WHERE radius > 0"),
    "radius, last digit shown": ("fixed", "UPDATE certificates SET radius = radius + 1e-6 WHERE radius > 0"),
    "p_lower": ("fixed", "UPDATE certificates SET p_lower = p_lower + 0.001 WHERE radius > 0"),
    "class": ("fixed", "UPDATE certificates SET predicted = (predicted + 1) % 10 WHERE radius > 0"),
    "outcome": ("fixed", "UPDATE certificates SET outcome = 'CAP_REACHED' WHERE radius > 0"),
    "samples": ("fixed", "UPDATE certificates SET samples = samples - 64"),
    "evaluations": ("fixed", "UPDATE certificates SET evaluations = evaluations - 64"),
    "label": ("fixed", "UPDATE certificates SET label = (label + 1) % 10 WHERE idx = 5"),
    "a deleted image": ("fixed", "DELETE FROM certificates WHERE idx = 5"),
    "an added image": (
        "fixed",
        "INSERT INTO certificates SELECT 6, label, outcome, predicted, radius, p_lower, samples, evaluations, "
        "seconds FROM certificates WHERE idx = 5",
    ),
    "counts dropped": ("fixed", "DELETE FROM counts WHERE idx = 5"),
    "a look dropped": ("sequential", "DELETE FROM counts WHERE purpose = 'certify'"),
    "votes dropped": ("fixed", "UPDATE votes SET packed = x'78'"),
    "alpha": ("fixed", "UPDATE manifest SET value = '0.01' WHERE field = 'alpha'"),
    "sigma": (
        "fixed",
        """UPDATE manifest SET value = '{"name": "gaussian", "sigma": 0.5}' WHERE field = 'noise'""",
    ),
    "seed": ("fixed", "UPDATE manifest SET value = '\"8\"' WHERE field = 'seed'"),
    "indices": ("fixed", "UPDATE manifest SET value = '[0, 2, 5, 9, 11]' WHERE field = 'indices'"),
    "more indices": (
        "fixed",
        "UPDATE manifest SET value = '[0, 2, 5, 9, 11, 19, 20]' WHERE field = 'indices'",
    ),
    "chunk_votes": ("fixed", "UPDATE manifest SET value = '128' WHERE field = 'chunk_votes'"),
    "class names": ("fixed", "UPDATE manifest SET value = '[]' WHERE field = 'class_names'"),
    "norm": ("fixed", "UPDATE manifest SET value = '\"l1\"' WHERE field = 'norm'"),
    "a manifest of nothing": ("fixed", "DELETE FROM manifest WHERE field = 'procedure'"),
    "a staged radius": ("staged", "UPDATE certificates SET radius = 0.25 WHERE radius > 0"),
    "a proven radius": ("sequential", "UPDATE certificates SET radius = 0.5 WHERE radius = 0.25"),
    "an anytime radius": ("anytime", "UPDATE certificates SET radius = radius + 0.001 WHERE radius > 0"),
    "a radius from the runner-up": (
        "runner-up",
        "UPDATE certificates SET radius = radius + 0.0001 WHERE radius > 0",
    ),
    "a group radius": ("group", "UPDATE certificates SET radius = 0.21 WHERE radius > 0"),
    "model digest": ("fixed", "UPDATE manifest SET value = '\"0\"' WHERE field = 'model'"),
}


@pytest.mark.parametrize("seal", [False, True], ids=["naively", "with-seals"])
@pytest.mark.parametrize("what", CHANGES)
def test_any_changed_value_is_found(what, seal, forge):
    name, statement = CHANGES[what]
    report = forge(name, statement, seal=seal)
    assert report.trust is Trust.NOT_TRUSTED, report.line
    assert "cannot be trusted" in report.line


def test_every_single_column_is_sealed(forge, runs):
    """Also values that nothing follows from, such as seconds."""
    report = forge("fixed", "UPDATE certificates SET seconds = 1 WHERE idx = 9")
    assert [(f.kind, f.image) for f in report.findings] == [("seal", 9)]
    report = forge("fixed", "DELETE FROM seals WHERE idx = 9")
    assert ("seal", 9) in [(f.kind, f.image) for f in report.findings]


def _moved_votes(folder, index, phase, amount, *, chosen):
    """Statements that give a class more votes, in the stored votes and in the counts that are made from them."""
    cast = np.frombuffer(
        zlib.decompress(
            query(folder, f"SELECT packed FROM votes WHERE idx = {index} AND phase = '{phase}'")[0][0]
        ),
        dtype=np.uint8,
    ).copy()
    others = np.flatnonzero(cast != chosen)[:amount]
    cast[others] = chosen
    counts = json.dumps(np.bincount(cast, minlength=10).tolist())
    return others.size, [
        ("UPDATE votes SET packed = ? WHERE idx = ? AND phase = ?", (pack(cast.tobytes()), index, phase)),
        ("UPDATE counts SET votes = ? WHERE idx = ? AND phase = ?", (counts, index, phase)),
    ]


def test_a_count_that_its_votes_do_not_give_is_found(forge, runs):
    index, _, predicted = certified(runs / "fixed")
    _, (_, counts) = _moved_votes(runs / "fixed", index, "estimate", 5, chosen=predicted)
    report = forge("fixed", counts, seal=True)
    assert ("proof", index) in [(f.kind, f.image) for f in report.findings]
    assert "are not those of the stored votes" in report.line


def test_a_forgery_that_fits_together_is_found_by_drawing_again(forge, runs, classifier):
    """Votes, counts, bound, radius and seals are changed as the software itself would have written them."""
    index, radius, predicted = certified(runs / "fixed")
    moved, statements = _moved_votes(runs / "fixed", index, "estimate", 20, chosen=predicted)
    cast = json.loads(statements[1][1][0])
    p = sc.bounds.clopper_pearson_lower(cast[predicted], 1_500, 0.001)
    better = classifier.noise.radius(p)
    assert moved == 20
    assert better > radius
    statements.append(("UPDATE certificates SET p_lower = ?, radius = ? WHERE idx = ?", (p, better, index)))
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


@pytest.mark.parametrize("kept", [True, False], ids=["votes", "counts-alone"])
def test_a_cost_that_an_early_exit_could_have_had_is_found_by_drawing_all_again(
    kept, classifier, digits, tmp_path
):
    torch.manual_seed(0)
    others = [sc.create_model("convnet", num_classes=10).eval() for _ in range(2)]
    early = sc.ConsensusEnsemble(sc.VotingEnsemble([classifier.model, *others]), k=2)
    smoothed, run = sc.SmoothedClassifier(early, classifier.noise, 10), tmp_path / "run"
    sc.certify(smoothed, digits, procedure=PROCEDURES["fixed"], indices=INDICES, seed=7, out=run, workers=1)
    how = {"model": smoothed, "workers": 1}
    samples, spent = query(run, "SELECT samples, evaluations FROM certificates WHERE idx = 5")[0]
    assert 2 * samples < spent < 3 * samples  # not all votes leave early
    with closing(sqlite3.connect(run / FILE)) as connection, connection:
        if not kept:
            connection.execute("DELETE FROM votes")
            connection.execute("DELETE FROM seals")
    assert audit(run, fraction=1.0, **how).trust is Trust.TRUSTED
    with closing(sqlite3.connect(run / FILE)) as connection, connection:
        for table, part in (("certificates", ""), ("counts", "AND phase = 'estimate'")):
            connection.execute(f"UPDATE {table} SET evaluations = evaluations - 50 WHERE idx = 5 {part}")
    if kept:
        _seal_again(run)
    assert [(f.kind, f.image) for f in audit(run, fraction=1.0, **how).findings] == [("cost", 5)]
    with closing(sqlite3.connect(run / FILE)) as connection, connection:  # more than all members cost
        for table, part in (("certificates", ""), ("counts", "AND phase = 'estimate'")):
            connection.execute(f"UPDATE {table} SET evaluations = evaluations + 5000 WHERE idx = 5 {part}")
    if kept:
        _seal_again(run)
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


def test_rounding_explains_few_votes_of_one_image_however_small_its_logits(classifier, digits, tmp_path):
    """Scaled down, a classifier is the same; a gap that is small in its own units only is no rounding."""

    class Scaled(torch.nn.Module):
        def __init__(self, scale, offset):
            super().__init__()
            self.model, self.scale, self.offset = classifier.model, scale, offset

        def forward(self, batch):
            return self.offset + self.scale * self.model(batch)

    for scale, offset, kind in ((1e-6, 0.0, "votes"), (1e-6, 1.0, "arithmetic")):
        smoothed = sc.SmoothedClassifier(Scaled(scale, offset).eval(), classifier.noise, 10)
        run = tmp_path / f"run-{offset}"
        sc.certify(
            smoothed, digits, procedure=PROCEDURES["fixed"], indices=INDICES, seed=7, out=run, workers=1
        )
        assert audit(run, model=smoothed, fraction=1.0, workers=1).trust is Trust.TRUSTED
        index, _, predicted = certified(run)
        moved, statements = _moved_votes(run, index, "select", 3, chosen=predicted)
        assert moved == 3
        with closing(sqlite3.connect(run / FILE)) as connection, connection:
            for statement in statements:
                connection.execute(*statement)
        _seal_again(run)
        report = audit(run, model=smoothed, fraction=1.0, workers=1)
        assert (kind, index) in [(f.kind, f.image) for f in report.findings], report.line


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


def test_votes_that_differ_by_rounding_are_arithmetic(forge, runs, classifier, monkeypatch):
    """The gap decides: with an enormous tolerance the same forgery passes for rounding, until it is too much."""
    index, _, predicted = certified(runs / "fixed")
    moved, statements = _moved_votes(runs / "fixed", index, "select", 1, chosen=predicted)
    assert moved == 1
    assert forge("fixed", *statements, seal=True, fraction=1.0).arithmetic == 0
    monkeypatch.setattr("smoothcert.store.auditing.redraw.ROUNDING_GAP", 1e9)
    report = forge("fixed", *statements, seal=True, fraction=1.0)
    assert (report.arithmetic, report.trust) == (1, Trust.TRUSTED), report.line
    assert "1 of them up to rounding" in report.line
    _, statements = _moved_votes(runs / "fixed", index, "estimate", 30, chosen=predicted)
    report = forge("fixed", statements[0], seal=True, fraction=1.0)
    assert "arithmetic" in [f.kind for f in report.findings]


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


def test_a_run_of_counts_alone_is_drawn_again_whole(forge, runs):
    """As runs from before votes were stored: changed counts are found, close calls would be forgiven."""
    bare = ("DELETE FROM votes", "DELETE FROM seals")
    for name in PROCEDURES:
        report = forge(name, *bare, fraction=1.0)
        assert report.trust is Trust.TRUSTED, report.line
        assert report.redrawn == query(runs / name, "SELECT SUM(samples) FROM certificates")[0][0]
    some = forge("fixed", *bare)  # counts that nobody drew again may be anything that adds up
    assert some.trust is Trust.UNDECIDED
    assert "hold counts without votes" in some.line
    index, _, predicted = certified(runs / "fixed")
    _, (_, counts) = _moved_votes(runs / "fixed", index, "select", 3, chosen=predicted)
    report = forge("fixed", *bare, counts, fraction=1.0)
    assert ("votes", index) in [(f.kind, f.image) for f in report.findings]


def test_a_field_that_no_run_has_is_found(forge):
    report = forge("fixed", "INSERT INTO manifest VALUES ('norm_of_noise', '\"linf\"')", seal=True)
    assert any("fields that this version never writes: norm_of_noise" in str(f) for f in report.findings)


def test_a_run_of_an_earlier_version_may_lack_fields(forge):
    bare = ("DELETE FROM votes", "DELETE FROM seals", "DELETE FROM manifest WHERE field = 'input_shape'")
    report = forge("fixed", *bare, fraction=1.0)
    assert report.trust is Trust.TRUSTED, report.line
    assert report.notes[0] == "another version wrote the manifest: not compared are input_shape"


def test_an_image_that_lost_its_votes_is_always_drawn_again(forge, runs):
    index, _, predicted = certified(runs / "fixed")
    _, (_, counts) = _moved_votes(runs / "fixed", index, "select", 3, chosen=predicted)
    lost = [f"DELETE FROM {table} WHERE idx = {index}" for table in ("votes", "seals")]
    report = forge("fixed", *lost, counts, fraction=0.001)
    assert ("votes", index) in [(f.kind, f.image) for f in report.findings]


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
    _seal_again(tmp_path / "run")
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


def test_gaps_are_judged_in_units_that_rounding_has():
    """Small logits by the largest of them, ordinary ones by 1, large ones by what float32 resolves."""
    logits = np.array([[1e-5, 0.0], [0.0, 0.0], [3.0, -1.0], [-20.0, 1.0], [1e6, 0.0]])
    np.testing.assert_allclose(scale_of(logits), [1e-5, 1, 1, 1, 4e4])
