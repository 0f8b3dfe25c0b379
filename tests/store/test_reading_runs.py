"""What is refused of a run when it is read, and that every value has one check; the fuzz tests try the rest."""

import json
import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.errors import DamagedRunError, StoreError
from smoothcert.store import export_run
from store.content import FILE, query

DATA = sc.Dataset.from_arrays(torch.tensor([[0.9], [0.6], [0.2]]).numpy(), [1, 1, 0])


def answer(batch):
    score = batch[:, 0] - 0.5
    return torch.stack([-score, score], dim=1)


CLASSIFIER = sc.SmoothedClassifier(answer, sc.Gaussian(0.25), 2)


def certify(out, **how):
    options = {"procedure": sc.FixedSample(n0=20, n=500), "seed": 1, "workers": 1, **how}
    return sc.certify(CLASSIFIER, DATA, out=out, **options)


@pytest.fixture
def out(tmp_path):
    certify(tmp_path / "run")
    return tmp_path / "run"


def change(out, statement, *values):
    with closing(sqlite3.connect(out / FILE)) as connection, connection:
        connection.execute(statement, values)


def refusal(out):
    """What is said on reading; resuming must say the same, before any vote."""
    with pytest.raises(DamagedRunError) as reading:
        sc.Run.open(out)
    with pytest.raises(DamagedRunError) as resuming:
        certify(out, resume=True)
    assert str(reading.value) == str(resuming.value)
    assert str(out) in str(reading.value)
    return str(reading.value)


FIELDS = {
    "alpha": ("2", "alpha: Input should be less than 1, got 2"),
    "seed": (f'"{2**128}"', "seed: a seed is below 2^128"),
    "num_classes": (str(10**12), "num_classes: Input should be less than or equal to 65536"),
    "indices": ("[1, 1]", "indices: indices are different"),
    "input_shape": ("[1000000, 1000000]", "input_shape must be of at most"),
    "norm": ('"l1"', "norm must be that of the noise, l2, not 'l1'"),
    "on_nan": ('"x"', "on_nan must be one of"),
    "format": ("2", "format must be 1, not 2: another version wrote it"),
    "ensemble": ("null", "ensemble must describe one, or be left out"),
    "dataset": ('{"name": "x"}', "dataset.split: Field required"),
    "class_names": ('["\\ud800"]', "class_names.0: Input should be a valid string"),
    "other": ("1", "it has fields that this version never writes: other"),
}
NOISES = {
    '{"name": "gaussian"}': "noise describes none that there is: ",
    '{"name": "gaussian", "sigma": 0.25, "x": 1}': "noise describes none that there is: ",
    '{"name": "other"}': "noise describes none that there is: ",
    '{"sigma": 0.25}': "noise describes none that there is: ",
    '{"name": ["gaussian"]}': "noise describes none that there is: ",
    '{"name": "gaussian", "sigma": true}': "noise describes none that there is: ",
    '{"name": "gaussian", "sigma": 1}': "noise is not as it describes itself: ",
}
PROCEDURES = {
    '{"name": "fixed", "n0": "20", "n": 500}': "procedure describes none that there is: ",
    '{"name": "fixed", "n0": 20, "n": 500, "runner_up": false}': "procedure is not as it describes itself: ",
    '{"n0": 20, "n": 500}': "procedure describes none that there is: ",
}
CASES = [
    *((field, *case) for field, case in FIELDS.items()),
    *(("noise", *case) for case in NOISES.items()),
    *(("procedure", *case) for case in PROCEDURES.items()),
]


@pytest.mark.parametrize("field, value, said", CASES)
def test_a_manifest_is_refused_by_field(field, value, said, out):
    change(out, "INSERT OR REPLACE INTO manifest VALUES (?, ?)", field, value)
    assert said in refusal(out)


@pytest.mark.parametrize("field", ["alpha", "noise", "indices", "versions", "input_shape"])
def test_a_missing_field_is_named(field, out):
    change(out, "DELETE FROM manifest WHERE field = ?", field)
    assert f"{field}: Field required" in refusal(out)


ROWS = {
    "UPDATE certificates SET radius = 1e9 WHERE idx = 0": "radius of image 0 is 1000000000.0, expected a number from",
    "UPDATE certificates SET radius = 9e999 WHERE idx = 0": "radius of image 0 is inf",
    "UPDATE certificates SET radius = 'x' WHERE idx = 0": "radius of image 0 is 'x'",
    "UPDATE certificates SET label = -1": "label of image 0 is -1, expected an integer from 0",
    "UPDATE certificates SET label = 9223372036854775807": "label of image 0 is 9223372036854775807",
    "UPDATE certificates SET predicted = 2": "predicted of image 0 is 2, expected an integer from 0 to 1",
    "UPDATE certificates SET predicted = NULL": "predicted of image 0 is None, but the outcome is CERTIFIED",
    "UPDATE certificates SET outcome = 'FINE'": "outcome of image 0 is 'FINE'",
    "UPDATE certificates SET samples = 1.5": "samples of image 0 is 1.5",
    "UPDATE certificates SET samples = 5": "more than its samples",
    "UPDATE certificates SET idx = 7 WHERE idx = 2": "image 7 is stored, but not listed",
    "DELETE FROM certificates WHERE idx = 2": "counts of image 2 are without its certificate",
    "DELETE FROM counts WHERE idx = 2": "counts of image 2 are missing",
    "DELETE FROM counts WHERE position = 0": "counts of image 0 are not numbered from 0",
    "UPDATE counts SET votes = '[501, 0]' WHERE position = 1": "one of votes of the counts of image 0 is 501",
    "UPDATE counts SET votes = '[300, 300]' WHERE position = 1": "are 600 together, but 500 were drawn",
    "UPDATE counts SET votes = '[1.0, 2.0]'": "one of votes of the counts of image 0 is 1.0",
    "UPDATE counts SET votes = '[1, 2, 3]'": "expected a list of 2 counts",
    "UPDATE counts SET purpose = 'x'": "purpose of the counts of image 0 is 'x'",
    "UPDATE counts SET drawn = 0": "drawn of the counts of image 0 is 0",
}


@pytest.mark.parametrize("statement", ROWS)
def test_a_row_is_refused_by_column(statement, out):
    change(out, statement)
    assert ROWS[statement] in refusal(out)


def test_values_beyond_all_size_are_refused_unread(out):
    change(out, "UPDATE counts SET votes = zeroblob(200000000) WHERE idx = 0 AND position = 0")
    assert "too big" in refusal(out)


@pytest.mark.parametrize("name", [FILE, f"{FILE}-wal", f"{FILE}-journal"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_refused_before_it_is_opened(name, kind, out):
    (out / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(out / name)
    else:
        (out / name).symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=r"no regular file|is not a run folder"):
        sc.Run.open(out)
    with pytest.raises(StoreError, match="no regular file"):
        certify(out, resume=True)


def test_what_cannot_be_read_back_is_not_begun(tmp_path):
    """A law that nobody registered: refused before the first vote, and kept in memory as before."""

    class Mine(sc.Gaussian):
        pass

    classifier = sc.SmoothedClassifier(answer, Mine(0.25), 2)
    options = {"procedure": sc.FixedSample(n=500), "seed": 1, "workers": 1}
    with pytest.raises(StoreError, match=r"this run cannot be stored: .*unknown noise 'test-reading-runs'"):
        sc.certify(classifier, DATA, out=tmp_path / "run", **options)
    assert list(tmp_path.iterdir()) == []
    assert len(sc.certify(classifier, DATA, **options)) == 3


def test_cells_that_begin_like_a_formula_are_text_in_csv(out):
    run = sc.Run.open(out)
    plain = export_run(run, "csv").decode()
    place = 2  # the outcome, the only text of a row
    run._rows = [
        (*row[:place], start + "A1", *row[place + 1 :])
        for row, start in zip(run._rows, ("=", "@", "-"), strict=True)
    ]
    run._rows[0] = (*run._rows[0][:4], -0.5, *run._rows[0][5:])  # a number stays one
    lines = export_run(run, "csv").decode().splitlines()[1:]
    assert [line.split(",")[place] for line in lines] == ["'=A1", "'@A1", "'-A1"]
    assert lines[0].split(",")[4] == "-0.5"
    assert "'" not in plain


def test_stored_values_are_those_of_a_run_in_memory(out):
    """The checks change nothing: what is read is what was written."""
    read, kept = sc.Run.open(out), certify(None)
    assert json.dumps(read.manifest) == json.dumps(kept.manifest)
    for column in ("idx", "label", "outcome", "predicted", "radius", "p_lower", "samples", "evaluations"):
        assert read.column(column) == kept.column(column)
    assert all(
        np.array_equal(a.votes, b.votes) for a, b in zip(read.final_counts, kept.final_counts, strict=True)
    )
    assert query(out, "PRAGMA journal_mode") == [("delete",)]
