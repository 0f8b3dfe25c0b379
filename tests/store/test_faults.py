"""Damaged files, full disks and strangers' folders: one `StoreError`, and nothing lost or left behind."""

import errno
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.atomic import write_atomically
from smoothcert.cli.app import app
from smoothcert.errors import SmoothcertError, StoreError
from store.content import FILE, content, query

IMAGES = 100


@pytest.fixture
def certify(classifier, digits):
    def run(out, **changes):
        options = {
            "procedure": sc.FixedSample(n0=20, n=64),
            "seed": 7,
            "indices": range(IMAGES),
            "workers": 1,
        }
        return sc.certify(classifier, digits, out=out, **{**options, **changes})

    return run


@pytest.fixture
def out(certify, tmp_path):
    """A finished run."""
    certify(tmp_path / "run")
    return tmp_path / "run"


def refusals(out, certify):
    """The sentences with which reading, analysing, exporting and resuming refuse a folder."""
    said = []
    for attempt in (lambda: sc.Run.open(out), lambda: certify(out, resume=True)):
        with pytest.raises(StoreError) as refusal:
            attempt()
        said.append(str(refusal.value))
    for command in ("analyze", "export"):
        result = CliRunner().invoke(app, [command, str(out)])
        assert isinstance(result.exception, SmoothcertError)  # what `main` turns into exit code 2
        assert result.stdout == ""
        said.append(str(result.exception))
    return said


def test_a_folder_that_is_no_run(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(
            StoreError, match=f"{re.escape(str(folder))} is not a run folder: it has no {FILE}"
        ):
            sc.Run.open(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 15, 16, 99, 100, 1_000, 4_095, 4_096, 8_192, 12_345, -4_096, -100, -1])
def test_a_database_cut_short(size, out, certify):
    whole = (out / FILE).read_bytes()
    kept = whole[:size]
    (out / FILE).write_bytes(kept)
    for sentence in refusals(out, certify):
        assert re.search(
            r"run\.sqlite is damaged or no run database \(.*\); restore it from a copy", sentence
        )
    assert (out / FILE).read_bytes() == kept
    (out / FILE).write_bytes(whole)
    assert len(sc.Run.open(out)) == IMAGES


def test_a_database_cut_to_nothing_can_be_started_again(out, certify):
    whole = content(out)
    (out / FILE).write_bytes(b"")
    with pytest.raises(StoreError, match="holds no run yet; start it again with resume"):
        sc.Run.open(out)
    with pytest.raises(StoreError, match="already holds a run"):
        certify(out)
    certify(out, resume=True)
    assert content(out) == whole


@pytest.mark.parametrize(
    "bytes_", [b"idx\tlabel\tpredict\n" * 9, b"\x00" * 5_000, b"PK\x03\x04" + b"zip" * 99]
)
def test_no_database_at_all(bytes_, tmp_path, certify):
    (tmp_path / FILE).write_bytes(bytes_)
    assert all("damaged or no run database" in sentence for sentence in refusals(tmp_path, certify))
    assert (tmp_path / FILE).read_bytes() == bytes_


@pytest.mark.parametrize("table", ["counts", "other"])
def test_somebody_elses_database_is_not_touched(table, tmp_path, certify):
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute(f"CREATE TABLE {table} (mine)")
    before = (tmp_path / FILE).read_bytes()
    assert all("it has tables, but no manifest" in sentence for sentence in refusals(tmp_path, certify))
    assert (tmp_path / FILE).read_bytes() == before


def limited(monkeypatch, pages):
    """Let every database of this process grow to so many pages, as on a disk that is full."""
    connect = sqlite3.connect

    def small(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)


@pytest.mark.parametrize(
    "there_before", [(), ("runs",), ("runs", "runs/x"), ("runs", "runs/x", "runs/x/notes")]
)
@pytest.mark.parametrize("pages", [1, 4])  # too few to open the file, too few for the manifest
def test_full_disk_at_the_beginning_leaves_nothing(pages, there_before, certify, tmp_path, monkeypatch):
    out = tmp_path / "runs" / "x"
    for name in there_before:
        (tmp_path / name).mkdir()
    with monkeypatch.context() as patch:
        limited(patch, pages)
        with pytest.raises(StoreError, match="is full; free some space"):
            certify(out)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == list(there_before)
    certify(out)
    assert len(sc.Run.open(out)) == IMAGES


def test_full_disk_in_the_middle_can_be_resumed(certify, out, tmp_path, monkeypatch):
    small = tmp_path / "small"
    with monkeypatch.context() as patch:
        limited(patch, query(out, "PRAGMA page_count")[0][0] - 1)
        with pytest.raises(StoreError, match="is full; free some space and continue with resume"):
            certify(small)
        assert 0 < len(sc.Run.open(small)) < IMAGES
        with pytest.raises(StoreError, match="is full"):
            certify(small, resume=True)
    part = sc.Run.open(small)
    assert not part.is_complete
    assert content(small)["certificates"] == [
        row for row in content(out)["certificates"] if row[0] in part.column("idx")
    ]
    certify(small, resume=True)
    assert content(small) == content(out)


def test_full_disk_for_one_of_a_panels_runs_leaves_nothing(classifier, digits, tmp_path, monkeypatch):
    panel = sc.Panel(sc.VotingEnsemble([classifier.model]), names=["a", "b"])
    connect, opened = sqlite3.connect, []

    def small(*args, **kwargs):
        connection = connect(*args, **kwargs)
        opened.append(connection)
        if len(opened) == 2:
            connection.execute("PRAGMA max_page_count=4")
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StoreError, match="is full"):
        sc.certify_panel(
            sc.SmoothedClassifier(panel, classifier.noise, 10),
            digits,
            outs={name: tmp_path / name for name in panel.names},
            procedure=sc.FixedSample(n=200),
            indices=range(3),
        )
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(certify, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="is a file; choose a folder for the run"):
        certify(tmp_path / "file")
    with pytest.raises(StoreError, match=r"cannot write to .*file/run: Not a directory"):
        certify(tmp_path / "file" / "run")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_finished_run_is_one_file_that_reading_leaves_alone(out):
    (out / FILE).chmod(0o444)
    out.chmod(0o555)  # a superuser may write all the same: hence the look at what changed
    try:
        before = [(path.name, path.stat().st_mtime_ns) for path in (out, *out.iterdir())]
        assert [name for name, _ in before] == ["run", FILE]
        assert len(sc.Run.open(out)) == IMAGES
        assert CliRunner().invoke(app, ["export", str(out)]).exit_code == 0
        assert [(path.name, path.stat().st_mtime_ns) for path in (out, *out.iterdir())] == before
    finally:
        out.chmod(0o755)
    assert query(out, "PRAGMA journal_mode") == [("delete",)]


def test_somebody_who_reads_does_not_stop_a_run(certify, out, tmp_path, monkeypatch):
    """A reader that stays until after the end keeps the run from becoming one plain file, and no more."""
    watched, readers = tmp_path / "watched", []
    add = sc.store.database.RunDatabase.add

    def add_and_read(self, certificate, label):
        add(self, certificate, label)
        if not readers:
            readers.append(sqlite3.connect(f"{(watched / FILE).as_uri()}?mode=ro", uri=True))
            assert readers[0].execute("SELECT COUNT(*) FROM certificates").fetchone() == (1,)

    monkeypatch.setattr(sc.store.database.RunDatabase, "add", add_and_read)
    assert certify(watched).is_complete
    readers[0].close()
    assert content(watched) == content(out)


@pytest.mark.parametrize("function", ["fsync", "replace", "write"])
def test_a_failed_write_leaves_the_old_file(function, tmp_path, monkeypatch):
    file = tmp_path / "table.tsv"
    file.write_text("old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if function == "fsync":
            patch.setattr(os, "fsync", fail)
        elif function == "replace":
            patch.setattr(Path, "replace", fail)
        else:
            patch.setattr(os, "fdopen", fail)
        with pytest.raises(
            StoreError, match=r"cannot write .*table\.tsv: No space left on device; free some"
        ):
            write_atomically(file, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["table.tsv"]
    assert file.read_text() == "old"
    write_atomically(file, "new")
    assert file.read_text() == "new"
