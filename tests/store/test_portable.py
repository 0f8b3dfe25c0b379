"""A run kept without its votes: the same figures from a small text, and refusals of what no run has written."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.errors import SmoothcertError, StoreError
from smoothcert.report import Summary
from smoothcert.store import export_run, read_portable, write_portable

DATA = sc.Dataset.from_arrays(torch.tensor([[0.9], [0.6], [0.2]]).numpy(), [1, 1, 0])
PROCEDURES = {
    "fixed": sc.FixedSample(n0=20, n=500),
    "runner-up": sc.FixedSample(n0=20, n=500, runner_up=True),
    "staged": sc.Staged(radius=0.1, stages=(50, 200)),
    "grid": sc.Sequential(radii=(0, 0.1, 0.2), max_samples=640),
    "group": sc.GroupSequential(radius=0.1, n=1_000),
}


def answer(batch):
    score = batch[:, 0] - 0.5
    return torch.stack([-score, score], dim=1)


def certify(out, **how):
    classifier = sc.SmoothedClassifier(answer, sc.Gaussian(0.25), 2)
    options = {"procedure": PROCEDURES["fixed"], "seed": 1, "workers": 1, **how}
    return sc.certify(classifier, DATA, out=out, **options)


@pytest.fixture
def file(tmp_path):
    certify(tmp_path / "run")
    write_portable(tmp_path / "run", tmp_path / "kept" / "run.json")
    return tmp_path / "kept" / "run.json"


@pytest.mark.parametrize("name", PROCEDURES)
def test_it_reads_as_the_run_it_was(tmp_path, name):
    run = certify(tmp_path / "run", procedure=PROCEDURES[name])
    write_portable(tmp_path / "run", tmp_path / "run.json")
    kept = read_portable(tmp_path / "run.json").run
    assert kept.manifest == sc.Run.open(tmp_path / "run").manifest
    assert export_run(kept, "json") == export_run(run, "json")
    one, other = Summary.of_run(run, "same"), Summary.of_run(kept, "same")
    assert one.to_json() == other.to_json()
    np.testing.assert_array_equal(one.p_hat, other.p_hat)


def test_votes_are_left_out(tmp_path):
    certify(tmp_path / "run", procedure=sc.FixedSample(n0=100, n=200_000))
    write_portable(tmp_path / "run", tmp_path / "run.json")
    assert (tmp_path / "run.json").stat().st_size < 5_000 < (tmp_path / "run" / "run.sqlite").stat().st_size


def test_a_run_that_is_not_complete_is_refused(tmp_path):
    certify(tmp_path / "run", max_votes=1)
    with pytest.raises(StoreError, match="not complete"):
        write_portable(tmp_path / "run", tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()


def changed(content, change):
    if change == "radius":
        content["images"][0][0][4] = "wide"
    elif change == "short row":
        content["images"][0][0].pop()
    elif change == "no counts":
        content["images"][0][1] = []
    elif change == "image twice":
        content["images"].append(content["images"][0])
    elif change == "stranger":
        content["images"][0][0][0] = content["images"][0][1][0][0] = 99
    elif change == "no manifest":
        del content["manifest"]
    elif change == "noise":
        content["manifest"]["noise"] = "loud"
    elif change == "list":
        return [content]
    elif change == "fewer":
        content["images"].pop()
    elif change == "manifest of a list":
        content["manifest"] = []
    elif change == "too large":
        content["images"][0][0][6] = 2**63
    return content


@pytest.mark.parametrize(
    "change",
    [
        *("radius", "short row", "no counts", "image twice", "stranger", "no manifest", "noise", "list"),
        *("fewer", "manifest of a list", "too large"),
    ],
)
def test_what_no_run_has_written_is_refused_with_the_file(file, change):
    file.write_text(json.dumps(changed(json.loads(file.read_text()), change)))
    with pytest.raises(SmoothcertError, match=r"run\.json"):
        read_portable(file)


def test_a_run_that_was_changed_is_not_kept(tmp_path):
    certify(tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as connection, connection:
        connection.execute("UPDATE certificates SET radius = 9 WHERE idx = 0")
    with pytest.raises(StoreError, match="seal"):
        write_portable(tmp_path / "run", tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()
