"""Damaged runs, states of unfinished images and logs through every reader of them."""

import itertools
import json
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

import smoothcert as sc
from fuzz.damage import FILE, JSON_VALUES, SQL_VALUES, change, flipped, paths, replaced
from fuzz.driver import check_readers, command
from smoothcert.execution import runner
from smoothcert.report import Summary
from smoothcert.sampling import schedule as scheduler
from smoothcert.store import EXPORTERS, export_run, format_tsv
from smoothcert.store.database import RunDatabase
from smoothcert.workflows import audit
from store.content import content, query, votes_in

pytestmark = pytest.mark.slow
FORMS = [form for form in EXPORTERS if form != "parquet" or find_spec("pyarrow")]
RUNS = {
    "runner-up": sc.FixedSample(n0=20, n=128, runner_up=True),
    "sequential": sc.Sequential(radii=(0.0, 0.25), max_samples=256, n0=20),
    "stopped": sc.FixedSample(n0=20, n=640),
    "whole": sc.FixedSample(n0=20, n=640),
}


class Bright(torch.nn.Module):
    """Class 1 where the first of three values is large; quick, because thousands of runs are resumed here."""

    def forward(self, batch):
        score = batch[:, 0] - 0.4
        return torch.stack([-score, score], dim=1)


SMALL = sc.SmoothedClassifier(Bright().eval(), sc.Gaussian(0.25), 2)
IMAGES = sc.Dataset.from_arrays(np.array([[0.9, 0, 0], [0.5, 0, 0], [0.1, 0, 0]]), [1, 1, 0])


@pytest.fixture(scope="module")
def certify(classifier, digits):
    """Continues, or begins, a run by its name."""

    def run(name, out):
        what = (classifier, digits) if name == "runner-up" else (SMALL, IMAGES)
        how = {"seed": 7, "indices": range(3), "workers": 1, "batch_size": 64, "resume": True}
        return sc.certify(*what, procedure=RUNS[name], out=out, **how)

    return run


@pytest.fixture(scope="module")
def runs(certify, tmp_path_factory):
    """Honest runs: finished ones, and one stopped inside an image."""
    folder = tmp_path_factory.mktemp("honest")
    for name in ("runner-up", "sequential", "whole"):
        certify(name, folder / name)
    save = RunDatabase.save_unfinished

    def stop(self, states):
        save(self, states)
        if any(votes_in(state) > 100 for state in states.values()):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "SAVE_SECONDS", 0)
        patch.setattr(scheduler, "JOB_SECONDS", 0)
        patch.setattr(RunDatabase, "save_unfinished", stop)
        with pytest.raises(KeyboardInterrupt):
            certify("stopped", folder / "stopped")
    return folder


def read(folder, number):
    """Everything that Python code reads from a run; in another norm, one form at a time."""
    run = sc.Run.open(folder)
    assert repr(run)
    run.certified_accuracy([0, 0.25])
    json.dumps(Summary.of_run(run).to_json(), allow_nan=False)
    for form in FORMS:
        export_run(run, form)
    export_run(run.in_norm("linf"), FORMS[number % len(FORMS)])


@pytest.fixture
def place(tmp_path):
    """A folder in memory where there is one: thousands of small databases would wait for the disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


@pytest.fixture
def drive(runs, certify, classifier, model_folder, digits, place):
    """Reads one damaged copy of a run after another by every reader; counts them."""

    def damaged(title, name, damage, only=None):
        folder = damaged.folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(runs / name, folder)
        if damage(folder) is False:
            return 0
        number, damaged.cases = damaged.cases, damaged.cases + 1
        parts = (classifier, digits) if name == "runner-up" else (SMALL, IMAGES)
        calls = {
            "Run.open": lambda: read(folder, number),
            "audit": lambda: audit(
                folder, model=parts[0], dataset=parts[1], fraction=int(number % 10 == 0), workers=1
            ),
        }
        turn = number // 4
        if number % 4 == 0:  # commands that read as above: one of them for every other damage
            calls["analyze"] = command("analyze", folder, *["--json"] * (turn % 2))
        elif number % 4 == 2:
            calls["export"] = command("export", folder, "--format", FORMS[turn % len(FORMS)])
        if name == "runner-up" and number % 20 == 0:  # which load the model first
            how = ("--seed", 7, "--workers", 1, "--n0", 20, "--n", 128, "--runner-up", "--first", 3)
            calls["audit (command)"] = command("audit", folder, "--model", model_folder)
            calls["certify (command)"] = command("certify", model_folder, "--out", folder, "--resume", *how)
        calls["certify"] = lambda: certify(name, folder)  # last: it repairs what it can
        chosen = calls if only is None else {only: calls[only]}
        return check_readers((f"{title}: {reader}", call) for reader, call in chosen.items())

    damaged.cases, damaged.folder = 0, place / "run"
    return damaged


def test_honest_runs_pass_every_reader(drive):
    """The first by Python and by the commands analyze, audit and certify, the third by export."""
    assert drive("as it is", "runner-up", lambda folder: None) == 6
    assert drive("as it is", "stopped", lambda folder: None) == 3
    assert drive("as it is", "runner-up", lambda folder: None) == 4


FEW = ("removed", "text", "null", "beyond floats", "negative", "nested list", "huge")


def test_manifests(drive, runs):
    """Every field, and every place within one, removed, of another kind, or huge."""
    for name in ("sequential", "runner-up"):
        for field, value in query(runs / name, "SELECT * FROM manifest"):
            for at in paths(json.loads(value)):
                if at and name != "sequential" and field not in ("noise", "procedure"):
                    continue
                kinds = JSON_VALUES if not at and name == "sequential" else FEW
                for kind in kinds:
                    new = replaced(json.loads(value), at, JSON_VALUES[kind])
                    statement = (
                        ("DELETE FROM manifest WHERE field = ?", (field,))
                        if new is None
                        else ("UPDATE manifest SET value = ? WHERE field = ?", (new, field))
                    )
                    drive(f"{field} {at} {kind}", name, lambda folder, s=statement: change(folder, s))
    drive("no manifest", name, lambda folder: change(folder, "DELETE FROM manifest"))
    more = "INSERT INTO manifest VALUES (hex(randomblob(9)), '1')"
    drive("a field more", name, lambda folder: change(folder, more))
    drive("many fields", name, lambda folder: change(folder, *[more] * 500))
    assert drive.cases > 400


TABLES = {
    "certificates": "idx label outcome predicted radius p_lower samples evaluations seconds",
    "counts": "idx position phase purpose radius drawn evaluations votes",
    "votes": "idx phase packed",
    "seals": "idx digest",
    "origin": "field value",
    "unfinished": "idx state",
}


def test_columns(drive):
    """Every column of every table with a value of another kind, or beyond its limits, in one row and in all."""
    for table, columns in TABLES.items():
        name = "stopped" if table == "unfinished" else "runner-up"
        for column, (kind, value) in itertools.product(columns.split(), SQL_VALUES.items()):
            one = f"UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT MAX(rowid) FROM {table})"
            drive(f"{table}.{column} {kind}", name, lambda folder, s=one: change(folder, s))
        for statement in (
            f"DELETE FROM {table}",
            f"DELETE FROM {table} WHERE rowid = (SELECT MIN(rowid) FROM {table})",
        ):
            drive(statement, name, lambda folder, s=statement: change(folder, s))
    assert drive.cases > 300


SCHEMAS = (
    "DROP TABLE {}",
    "ALTER TABLE {} RENAME TO other",
    "ALTER TABLE {} ADD COLUMN more",
    "CREATE TRIGGER t AFTER INSERT ON {} BEGIN DELETE FROM certificates; END",
    "CREATE VIEW v AS SELECT * FROM {}",
    "CREATE INDEX i ON {} (1)",
)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x FROM n"


def test_tables(drive):
    for table, statement in itertools.product(TABLES, SCHEMAS):
        made = statement.format(table)
        drive(made, "runner-up", lambda folder, s=made: change(folder, s))
        view = (f"DROP TABLE {table}", f"CREATE VIEW {table} (field, value) AS {ENDLESS}")
        drive(f"endless {table}", "runner-up", lambda folder, s=view: change(folder, *s))
    assert drive.cases > 35


def test_states(drive, runs):
    """Whatever stands in a state, the image ends as it would have ended: with the votes of its keys."""
    index, text = max(query(runs / "stopped", "SELECT * FROM unfinished"), key=lambda row: len(row[1]))
    state, whole = json.loads(text), content(runs / "whole")

    def check(title, new):
        statement = ("UPDATE unfinished SET state = ? WHERE idx = ?", (new, index))
        drive(title, "stopped", lambda folder: change(folder, statement), only="certify")
        assert content(drive.folder) == whole, title

    for at in paths(state):
        for kind, value in JSON_VALUES.items():
            new = replaced(state, at, value)
            if new is not None:
                check(f"state {at} {kind}", new)
    for seed in range(60):
        check(f"state flipped {seed}", flipped(text.encode(), seed).decode("latin-1"))
    for cut in range(1, len(text), len(text) // 20):
        check(f"state cut at {cut}", text[:cut])
    assert drive.cases > 250


def test_bytes(drive, runs):
    """Bytes changed anywhere in the file, and files cut anywhere."""
    for name, seed in itertools.product(("runner-up", "sequential", "stopped"), range(40)):
        whole = (runs / name / FILE).read_bytes()
        drive(f"flipped {seed}", name, lambda folder, b=flipped(whole, seed): (folder / FILE).write_bytes(b))
    for cut in range(0, len(whole), len(whole) // 30):
        drive(f"cut at {cut}", name, lambda folder, b=whole[:cut]: (folder / FILE).write_bytes(b))
    assert drive.cases >= 150


CELLS = (
    "", "x", "nan", "inf", "-inf", "-1", "1e9", "0.5", "1e400", str(2**31), str(2**63 - 1), "9" * 5_000,
    "-0", "[1]", "true", "=1+1", "\x00", "\x1b[31m", "x" * 100_000,
)  # fmt: skip


def test_logs(runs, place):
    """Every cell of another kind or huge, bytes changed, lines cut, doubled and joined."""
    text = format_tsv(sc.Run.open(runs / "runner-up"))
    lines = [line.split("\t") for line in text.splitlines()]
    damaged = [text.encode()]
    for row, column, cell in itertools.product((0, 1), range(6), CELLS):
        changed = [list(cells) for cells in lines]
        changed[row][column] = cell
        damaged.append("\n".join("\t".join(cells) for cells in changed).encode())
    damaged += [flipped(text.encode(), seed) for seed in range(100)]
    damaged += [text.encode()[:cut] for cut in range(0, len(text), 3)]
    damaged += [text.encode() * 2, text.encode().replace(b"\n", b""), text.encode().replace(b"\t", b" ")]
    log, good = place / "log.tsv", 0
    for number, content_ in enumerate(damaged):
        log.write_bytes(content_)
        calls = {"summary": lambda: json.dumps(Summary.of_path(log).to_json(), allow_nan=False)}
        if number % 5 == 0:
            calls["analyze"] = command("analyze", log, *["--json"] * (number % 2))
        good += check_readers((f"log {number}: {name}", call) for name, call in calls.items())
    assert len(damaged) > 350
    assert 0 < good < len(damaged)
