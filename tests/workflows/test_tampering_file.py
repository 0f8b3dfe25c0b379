"""Kinds of tampering with a run's database file, and what the audit must say to each."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from smoothcert.errors import StoreError
from smoothcert.store.schema import SCHEMA, _name
from smoothcert.workflows import Trust, audit
from store.content import FILE, query
from workflows.forging import write
from workflows.tampering import SMOOTHED, case, done_to, judge

OTHERS = "other readers may see other values"


def schema(*statements, words):
    return case(*statements, words=f"{words}.*{OTHERS}", raw=True)


def with_other_schema(table, old, new, *statements):
    """Do what a table forbids, and leave it looking as if it still forbade that."""

    def done(folder):
        entries = query(folder, f"SELECT * FROM sqlite_master WHERE tbl_name = '{table}' ORDER BY type DESC")
        lenient = (*entries[0][:4], entries[0][4].replace(old, new))  # a table, then its indexes
        assert lenient != entries[0]
        for there, then in (([lenient], statements), (entries, ())):
            with closing(sqlite3.connect(folder / FILE)) as connection, connection:
                connection.execute("PRAGMA writable_schema = ON")
                connection.execute("DELETE FROM sqlite_master WHERE tbl_name = ?", (table,))
                connection.executemany("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", there)
            write(folder, *then)

    return done


def other_index(folder):
    """Change a key in the index of the votes and not in their table."""
    root, size = (
        query(folder, sql)[0][0]
        for sql in (
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_votes_1'",
            "PRAGMA page_size",
        )
    )
    content = bytearray((folder / FILE).read_bytes())
    page = slice((root - 1) * size, root * size)
    assert content[page].count(b"estimate") == 4
    content[page] = content[page].replace(b"estimate", b"estimatf", 1)
    (folder / FILE).write_bytes(content)
    with closing(sqlite3.connect(folder / FILE)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)


def bytes_changed(change):
    def done(folder):
        (folder / FILE).write_bytes(change((folder / FILE).read_bytes()))

    return done


def in_a_log(folder):
    """Leave a larger radius in the log beside the file, as a process that was killed leaves its last image."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    with closing(sqlite3.connect(copy / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE certificates SET radius = radius + 1 WHERE idx = 5")
        shutil.copytree(copy, folder, dirs_exist_ok=True)
    (folder / f"{FILE}-shm").unlink()
    assert (folder / f"{FILE}-wal").stat().st_size > 0
    shutil.rmtree(copy)


FILES = {
    "a view in a table's place": schema(
        "ALTER TABLE certificates RENAME TO kept",
        "CREATE VIEW certificates AS SELECT idx, label, outcome, predicted, CASE WHEN julianday('now') > 9e6 "
        "THEN 10 * radius ELSE radius END AS radius, p_lower, samples, evaluations, seconds FROM kept",
        words="view 'certificates' is not as a run has it|table 'kept' belongs to no run",
    ),
    "a view on nothing": schema(
        "DROP TABLE manifest",
        "CREATE VIEW manifest AS SELECT field, value FROM nowhere",
        words="view 'manifest' is not as a run has it",
    ),
    "a trigger": schema(
        "CREATE TRIGGER t AFTER DELETE ON unfinished BEGIN UPDATE certificates SET radius = 1; END",
        words="trigger 't' belongs to no run",
    ),
    "an index more": schema("CREATE INDEX i ON counts (radius)", words="index 'i' belongs to no run"),
    "a table more": schema("CREATE TABLE more (x)", words="table 'more' belongs to no run"),
    "statistics": schema("ANALYZE", words="table 'sqlite_stat1' belongs to no run"),
    "a column more": schema(
        "ALTER TABLE certificates ADD COLUMN note TEXT", words="table 'certificates' is not as a run has it"
    ),
    "two columns in each other's place": schema(
        "ALTER TABLE certificates RENAME COLUMN radius TO t",
        "ALTER TABLE certificates RENAME COLUMN p_lower TO radius",
        "ALTER TABLE certificates RENAME COLUMN t TO p_lower",
        words="table 'certificates' is not as a run has it",
    ),
    "columns of another kind": schema(
        "DROP TABLE seals",
        "CREATE TABLE seals (idx INTEGER PRIMARY KEY, digest BLOB NOT NULL)",
        words="table 'seals' is not as a run has it",
    ),
    **{
        f"no table of {_name(statement)}": schema(
            f"DROP TABLE {_name(statement)}", words=f"table '{_name(statement)}' is missing"
        )
        for statement in SCHEMA
    },
    "an index that disagrees with its table": done_to(other_index, "fails its integrity check", raw=True),
    "nothing where a radius must be": done_to(
        with_other_schema(
            "certificates",
            "radius REAL NOT NULL",
            "radius REAL",
            "UPDATE certificates SET radius = NULL WHERE idx = 5",
        ),
        "fails its (integrity|consistency) check",
        raw=True,
    ),
    "one position twice": done_to(
        with_other_schema(
            "counts",
            ",\n        PRIMARY KEY (idx, position)",
            "",
            "UPDATE counts SET position = 0 WHERE idx = 5",
        ),
        "fails its (integrity|consistency) check",
        raw=True,
    ),
    "cut short": done_to(bytes_changed(lambda old: old[: len(old) // 2 + 7]), "cut short", raw=True),
    "pages taken away": done_to(bytes_changed(lambda old: old[:-8192]), "is damaged", raw=True),
    "no database": done_to(bytes_changed(lambda old: b"junk" * 5_000), "is damaged", raw=True),
    "a page of zeros": done_to(
        bytes_changed(lambda old: old[:8192] + bytes(4096) + old[12288:]),
        "is damaged|belongs|missing",
        raw=True,
    ),
    "a text that is no text": case(
        "UPDATE certificates SET outcome = CAST(x'ff' AS TEXT) WHERE idx = 5", words="is damaged", raw=True
    ),
    "a radius in a log beside it": done_to(in_a_log, "image 5: the stored radius is 1", raw=True),
    "a state of an image that is finished": case(
        "INSERT INTO unfinished VALUES (5, '{}')",
        words="with a certificate and a state of being under way.*1 of them .5.",
    ),
    "a state of an image that is not listed": case(
        "INSERT INTO unfinished VALUES (6, '{}')", words="under way, but not listed in the manifest"
    ),
    "a model at no place": case("INSERT INTO origin VALUES ('model', x'00')", words="which is no place"),
    "data at a place with a null": case(
        ("INSERT INTO origin VALUES ('data_dir', ?)", ("a\0b",)), words="which is no place"
    ),
    "a place of something else": case("INSERT INTO origin VALUES ('x', 'y')", words="which is no place"),
}


@pytest.mark.parametrize("what", FILES)
def test_tampering_with_the_file_is_said(what, small_runs, few_labels, tmp_path):
    judge(FILES[what], small_runs, few_labels, tmp_path)


def test_a_log_beside_the_file_is_noted(small_runs, few_labels, tmp_path):
    """SQLite passes over a log of nonsense; with another one, who copies the file alone would read something else."""
    run = shutil.copytree(small_runs / "fixed", tmp_path / "run")
    (run / f"{FILE}-wal").write_bytes(b"nonsense" * 512)
    report = audit(run, model=SMOOTHED, dataset=few_labels, fraction=1, workers=1)
    assert report.trust is Trust.TRUSTED
    assert report.notes == [
        f"{FILE}-wal lies beside {FILE} and was read with it; copy both or neither",
        "the model is code that no digest covers: that it is the one that was certified is for you to know",
    ]


def test_a_journal_that_would_change_the_file_is_refused(small_runs, tmp_path):
    """To read on, SQLite would have to write, and an audit changes nothing."""
    run = shutil.copytree(small_runs / "fixed", tmp_path / "run")
    (run / f"{FILE}-journal").write_bytes(b"nonsense" * 512)
    with pytest.raises(StoreError, match="cannot open"):
        audit(run, model=SMOOTHED)


def test_a_file_without_a_run_is_refused(tmp_path):
    (tmp_path / FILE).touch()
    with pytest.raises(StoreError, match="holds no run yet"):
        audit(tmp_path, model=SMOOTHED)
