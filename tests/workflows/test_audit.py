"""An audit finds every value that somebody changed after a run was written."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.errors import StoreError
from smoothcert.store.schema import SCHEMA, _name, _plain, foreign_tables
from smoothcert.workflows import Trust, audit
from store.content import FILE, query
from workflows.forging import INDICES, PROCEDURES, better_certificate, certified, moved_votes, seal_again

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
