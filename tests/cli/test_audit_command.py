"""`smoothcert audit`: one line, and an exit code that a script can rely on."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest


@pytest.fixture
def run(smoothcert, model_folder, tmp_path):
    """A run of the command itself, which notes where its model is."""
    options = ("--first", 6, "--n", 500, "--seed", 3, "--workers", 1, "--out", tmp_path / "run")
    assert smoothcert("certify", model_folder, *options)[0] == 0
    return tmp_path / "run"


def test_a_run_is_trusted_without_saying_where_its_model_is(smoothcert, run):
    code, out, _ = smoothcert("audit", run, "--workers", 1)
    assert code == 0
    assert out == (
        f"{run} can be trusted: the certificates of all 6 of the images that the run lists follow from the stored "
        "votes, and 3,600 re-drawn votes (60 of 60 chunks) are the stored ones; votes cannot prove its versions, "
        "engine, class names, times, on_nan (no NaN came up), nor that images and settings were chosen before them\n"
    )


def test_a_changed_run_is_not_trusted(smoothcert, run, model_folder):
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("UPDATE certificates SET radius = radius + 0.01 WHERE radius > 0")
    code, out, _ = smoothcert("audit", run, "--model", model_folder, "--fraction", 1, "--workers", 1)
    assert code == 1
    assert out.splitlines()[0].startswith(f"{run} cannot be trusted: ")
    assert "the stored radius is" in out.splitlines()[0]  # what was changed, before that something was
    code, out, _ = smoothcert("audit", run, "--json", "--workers", 1)
    report = json.loads(out)
    assert (code, report["trust"]) == (1, "not_trusted")
    assert {finding["kind"] for finding in report["findings"]} == {"seal", "proof"}


def test_a_changed_model_is_found_and_a_missing_one_leaves_it_open(smoothcert, run, model_folder, tmp_path):
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    weights = next(broken.glob("*.safetensors"))
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    code, out, _ = smoothcert("audit", run, "--model", broken, "--workers", 1)
    assert code == 1
    assert "the model cannot be loaded" in out
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("DELETE FROM origin")
    code, out, _ = smoothcert("audit", run, "--workers", 1)
    assert code == 3
    assert "give it with --model FOLDER" in out.splitlines()[0]


@pytest.mark.parametrize(
    "options, words",
    [
        (("--fraction", 2), "fraction must be a share from 0 to 1"),
        (("--model", "nowhere"), "there is no model folder nowhere"),
        (("--dataset", "nothing"), "unknown dataset"),
        (("--seed", "x"), "--seed must be an integer"),
    ],
)
def test_mistakes_are_one_sentence(options, words, smoothcert, refused, run):
    assert words in refused(smoothcert("audit", run, *options))


def test_what_is_no_run_is_refused(smoothcert, refused, tmp_path):
    assert "is not a run folder" in refused(smoothcert("audit", tmp_path))


@pytest.mark.parametrize(
    "statement, words",
    [
        ("UPDATE manifest SET value = '{{{' WHERE field = 'alpha'", "field 'alpha' of its manifest is no JSON"),
        ("DROP TABLE manifest", "table 'manifest' is missing"),
        ("DELETE FROM votes", "all votes are gone"),
        ("UPDATE manifest SET value = '-1' WHERE field = 'engine'", "engine is -1, expected a text"),
        ("UPDATE manifest SET value = '[1, 2, 2]' WHERE field = 'input_shape'",
         "input_shape is stored as [1, 2, 2], but is [1, 8, 8]"),
        ("DELETE FROM certificates WHERE idx = 2", "images missing: the run is unfinished (continue it with --resume)"),
    ],
)  # fmt: skip
def test_damage_is_a_verdict_and_not_a_crash(statement, words, smoothcert, run):
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute(statement)
    code, out, _ = smoothcert("audit", run, "--workers", 1)
    assert code == 1
    assert words in out
    if "JSON" in words:  # no other command reads it either
        for command in (("analyze", run), ("export", run)):
            code, _, err = smoothcert(*command)
            assert (code, words in err) == (2, True)


def test_a_file_cut_short_cannot_be_trusted(smoothcert, run):
    content = (run / "run.sqlite").read_bytes()
    for bad in (content[: len(content) // 2 + 7], b"junk" * 5_000):
        (run / "run.sqlite").write_bytes(bad)
        code, out, _ = smoothcert("audit", run)
        assert code == 1
        assert "is damaged or no run database" in out


def test_what_the_line_says_is_not_said_again(smoothcert, run):
    code, out, _ = smoothcert("audit", run, "--fraction", 0)
    assert code == 3
    assert out.count("no vote was drawn again") == 1
