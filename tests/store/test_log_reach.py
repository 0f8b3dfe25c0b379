"""An exported log says what its run says of radii that cannot be proven or were not asked; a plain one, less."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import smoothcert as sc
from smoothcert.certificates import Results
from smoothcert.certificates.reach import Note, Reach
from smoothcert.errors import FormatError
from smoothcert.report import Summary
from smoothcert.report.accuracy_cells import accuracy_cells
from smoothcert.store import format_tsv, read_tsv
from smoothcert.store.log_reach import reach_cells
from smoothcert.store.tsv import COLUMNS, read_log
from truth import CENTRE, half_space

RADII = np.array([0, 0.1, 0.3, 0.5, 0.62, 0.9])
PROCEDURES = {
    "fixed": sc.FixedSample(n=1_000),
    "nothing": sc.FixedSample(n0=5, n=5),
    "runner-up": sc.FixedSample(n=1_000, runner_up=True),
    "staged": sc.Staged(radius=0.3, stages=(100, 1_000)),
    "unprovable": sc.Sequential(radii=(0.1, 0.3, 0.9), max_samples=640),
    "group": sc.GroupSequential(radius=0.3, n=1_000),
    "anytime": sc.Sequential(max_samples=640),
}


@pytest.fixture(scope="module")
def runs():
    """Four images up to a distance of .4 from the boundary, in 1 dimension of 4."""
    points = np.full((4, 4), CENTRE, dtype=np.float32)
    points[:, 0] += np.linspace(-0.2, 0.4, 4, dtype=np.float32)
    dataset = sc.Dataset.from_arrays(points, np.ones(4, dtype=np.int64))
    classifier = sc.SmoothedClassifier(half_space(0.0), sc.Gaussian(0.25), 2)
    return {
        name: sc.certify(classifier, dataset, procedure=procedure, seed=1, workers=1)
        for name, procedure in PROCEDURES.items()
    }


def read_back(run, tmp_path, columns=None):
    frame = pd.read_csv(io.StringIO(format_tsv(run)), delimiter="\t", dtype=str)
    log = tmp_path / "log.tsv"
    frame[list(columns or frame.columns)].to_csv(log, sep="\t", index=False)
    return Summary.of_path(log)


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("name", PROCEDURES)
def test_an_export_read_back_says_the_same(runs, name, norm, tmp_path):
    run = runs[name].in_norm(norm)
    radii = RADII / (2 if norm == "linf" else 1)
    before, after = Summary.of_run(run), read_back(run, tmp_path)
    assert accuracy_cells(before, radii) == accuracy_cells(after, radii)
    first, second = before.to_json(radii), after.to_json(radii)
    for key in ("certified_accuracy", "certified_accuracy_notes"):
        assert first[key] == second[key]
    json.dumps(second, allow_nan=False)


def test_the_cells_are_the_right_ones(runs):
    """All 1,000 votes prove .25 Phi^-1(.001^(1/1000)) = .6158; the farthest image has p = Phi(1.6)."""
    cells = {name: accuracy_cells(Summary.of_run(run), RADII) for name, run in runs.items()}
    assert cells["fixed"] == ["50.0", "50.0", "25.0", "0.0", "n/p", "n/p"]
    assert cells["nothing"] == ["n/p"] * 6
    assert cells["staged"] == ["≥25.0", "≥25.0", "25.0", "–", "–", "–"]
    assert cells["unprovable"] == ["≥50.0", "50.0", "25.0", "–", "–", "n/p"]


def test_a_plain_log_claims_no_more_than_it_holds(runs, tmp_path):
    run = runs["fixed"]
    plain = read_back(run, tmp_path, COLUMNS)
    assert plain.reach == Reach(read_tsv(tmp_path / "log.tsv")[0].radius.max(), is_known=False)
    assert accuracy_cells(plain, RADII) == ["50.0", "50.0", "25.0", "?", "?", "?"]
    assert set(plain.to_json(RADII)["certified_accuracy_notes"].values()) == {Note.NOT_KNOWN.value}
    assert plain.to_json()["largest_provable_radius"] is None


def test_a_larger_radius_of_a_wrong_class_makes_a_zero_known(tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("\t".join(COLUMNS) + "\n0\t1\t1\t0.2\t1\t1\n1\t1\t0\t0.5\t0\t1\n")
    assert accuracy_cells(Summary.of_path(log), np.array([0.2, 0.4, 0.6])) == ["50.0", "0.0", "?"]


def test_readers_by_name_read_the_same(runs):
    """What the published scripts do with a log."""
    for run in runs.values():
        frame = pd.read_csv(io.StringIO(format_tsv(run)), delimiter="\t")
        assert tuple(frame.columns[:6]) == COLUMNS
        for radius in RADII:
            share = (frame["correct"] & (frame["radius"] >= radius)).mean()
            assert share == run.certified_accuracy([radius])[0]


@pytest.mark.parametrize(
    "provable, asked, words",
    [
        ("x", "any", "could not convert"),
        ("nan", "any", "a radius is from 0"),
        ("-1", "any", "a radius is from 0"),
        ("0.7", "0.1 inf", "a radius is from 0"),
        ("0.7", "0.1  0.2", "could not convert"),
        ("none", "any", "but the log holds a radius of 0.5"),
        ("0.4", "any", "but the log holds a radius of 0.5"),
    ],
)
def test_columns_that_cannot_be_are_refused(provable, asked, words, tmp_path):
    log = tmp_path / "log.tsv"
    rows = [f"{i}\t1\t1\t0.5\t1\t1\t{provable}\t{asked}" for i in range(3)]
    log.write_text("\n".join(["\t".join((*COLUMNS, "provable", "asked")), *rows]) + "\n")
    with pytest.raises(FormatError, match=r"log\.tsv line 2: .*remove") as refusal:
        read_log(log)
    assert words in str(refusal.value)


@pytest.mark.parametrize("second", ["0.8\tany", "0.7\t0.5", "\t", ""])
def test_rows_of_different_runs_have_no_reach_in_common(second, tmp_path):
    log = tmp_path / "log.tsv"
    rows = ["0\t1\t1\t0.5\t1\t1\t0.7\tany", f"1\t1\t1\t0.5\t1\t1\t{second}".rstrip()]
    log.write_text("\n".join(["\t".join((*COLUMNS, "provable", "asked")), *rows]) + "\n")
    assert read_log(log).reach == Reach(0.5, is_known=False)


def test_a_long_list_of_radii_is_not_told():
    assert reach_cells(Reach(0.5, tuple(i / 100 for i in range(51)))) == ("", "")
    assert reach_cells(Reach(0.25, (0.0, 0.1, 0.25))) == ("0.250000", "0.000000 0.100000 0.250000")
    assert reach_cells(Reach(None)) == ("none", "any")


def test_summaries_without_a_manifest_know_only_what_they_hold():
    one = np.array([1])
    summary = Summary("mine", Results(one, one, one, np.array([0.5])), 0.0)
    assert summary.reach == Reach(0.5, is_known=False)
    assert replace(summary, told=Reach(0.7)).reach == Reach(0.7)
