"""An exported log says what its run says of radii that cannot be proven or were not asked; a plain one, less."""

import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import smoothcert as sc
from smoothcert.certificates import Results
from smoothcert.certificates.reach import Note, Reach
from smoothcert.errors import FormatError, StoreError
from smoothcert.report import Summary
from smoothcert.report.tables.accuracy_cells import share_cells
from smoothcert.store import format_tsv, read_tsv, write_export
from smoothcert.store.log_reach import reach_file
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


def exported(run, tmp_path):
    log = tmp_path / "log.tsv"
    write_export(run, "tsv", log)
    assert log.read_text() == format_tsv(run)
    return log


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("name", PROCEDURES)
def test_an_export_read_back_says_the_same(runs, name, norm, tmp_path):
    run = runs[name].in_norm(norm)
    radii = RADII / (2 if norm == "linf" else 1)
    before, after = Summary.of_run(run), Summary.of_path(exported(run, tmp_path))
    assert share_cells(before.read(radii)) == share_cells(after.read(radii))
    first, second = before.to_json(radii), after.to_json(radii)
    for key in ("certified_accuracy", "certified_accuracy_notes"):
        assert first[key] == second[key]
    json.dumps(second, allow_nan=False)


def test_the_cells_are_the_right_ones(runs):
    """All 1,000 votes prove .25 Phi^-1(.001^(1/1000)) = .6158; the farthest image has p = Phi(1.6)."""
    cells = {name: share_cells(Summary.of_run(run).read(RADII)) for name, run in runs.items()}
    assert cells["fixed"] == ["50.0", "50.0", "25.0", "0.0", "n/p", "n/p"]
    assert cells["nothing"] == ["n/p"] * 6
    assert cells["staged"] == ["≥25.0", "≥25.0", "25.0", "–", "–", "–"]
    assert cells["unprovable"] == ["≥50.0", "50.0", "25.0", "–", "–", "n/p"]


def test_a_plain_log_claims_no_more_than_it_holds(runs, tmp_path):
    log = exported(runs["fixed"], tmp_path)
    reach_file(log).unlink()
    plain = Summary.of_path(log)
    assert plain.reach == Reach(read_tsv(log)[0].radius.max(), is_known=False)
    assert share_cells(plain.read(RADII)) == ["50.0", "50.0", "25.0", "?", "?", "?"]
    assert set(plain.to_json(RADII)["certified_accuracy_notes"].values()) == {Note.NOT_KNOWN.value}
    assert plain.to_json()["largest_provable_radius"] is None


def test_a_larger_radius_of_a_wrong_class_makes_a_zero_known(tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("\t".join(COLUMNS) + "\n0\t1\t1\t0.2\t1\t1\n1\t1\t0\t0.5\t0\t1\n")
    assert share_cells(Summary.of_path(log).read(np.array([0.2, 0.4, 0.6]))) == ["50.0", "0.0", "?"]


def test_the_log_itself_is_what_the_published_scripts_read(runs, tmp_path):
    for run in runs.values():
        frame = pd.read_csv(exported(run, tmp_path), delimiter="\t")
        assert tuple(frame.columns) == COLUMNS
        for radius in RADII:
            share = (frame["correct"] & (frame["radius"] >= radius)).mean()
            assert share == run.certified_accuracy([radius])[0]


def test_a_log_that_was_changed_is_a_plain_one(runs, tmp_path):
    log = exported(runs["fixed"], tmp_path)
    log.write_text("\n".join(log.read_text().splitlines()[:3]) + "\n")
    assert Summary.of_path(log).reach.is_known is False


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "nothing",
        "NaN",
        "[" * 100,
        '{"largest_provable_radius": -1}',
        '{"largest_provable_radius": 1e400}',
        '{"largest_provable_radius": 0.1}',
        '{"largest_provable_radius": null}',
        '{"asked_radii": []}',
        '{"asked_radii": [0.1, "0.2"]}',
        '{"asked_radii": [-0.1]}',
        '{"more": 1}',
    ],
)
def test_a_file_beside_it_that_cannot_be_is_refused(content, runs, tmp_path):
    log = exported(runs["fixed"], tmp_path)
    file = reach_file(log)
    if content.startswith('{"'):
        content = json.dumps(
            {**json.loads(file.read_text()), **json.loads(content.replace("1e400", "1e300"))}
        )
    file.write_text(content)
    with pytest.raises(FormatError, match=r"log\.tsv\.reach\.json"):
        read_log(log)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_file_is_neither_read_nor_written(kind, runs, tmp_path):
    log = exported(runs["fixed"], tmp_path)
    file = reach_file(log)
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    with pytest.raises(FormatError, match="no regular file"):
        read_log(log)
    log.write_text("old")
    with pytest.raises(StoreError, match="cannot write"):
        write_export(runs["fixed"], "tsv", log)
    assert log.read_text() == "old"


def test_other_formats_have_no_file_beside_them(runs, tmp_path):
    write_export(runs["fixed"], "json", tmp_path / "run.json")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_summaries_without_a_manifest_know_only_what_they_hold():
    one = np.array([1])
    summary = Summary("mine", Results(one, one, one, np.array([0.5])), 0.0)
    assert summary.reach == Reach(0.5, is_known=False)
    assert replace(summary, told=Reach(0.7)).reach == Reach(0.7)
