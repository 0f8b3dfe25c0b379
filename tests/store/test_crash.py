"""Killed at any moment, a run resumes to the content of an uninterrupted one (DESIGN, section 5)."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.cli.app import app
from smoothcert.execution import runner
from smoothcert.sampling import Sampler
from store.content import FILE, content, query, votes_in

pytestmark = pytest.mark.slow

IMAGES, SEED = 40, 7
KILLS = (1, 14, 28)  # images stored: few, half and most; every place within an image is named below
DRIVER = Path(__file__).with_name("crash_driver.py")

# Where the process dies: just before this statement runs for the n-th time, and what the folder holds then.
PLACES = {
    "empty file": ("PRAGMA journal_mode=WAL", 1),
    "before the manifest": ("BEGIN", 1),
    "inside the manifest": ("INSERT INTO manifest", 9),
    "manifest not committed": ("COMMIT", 1),
    "certificate without its counts": ("INSERT INTO counts", 20),
    "image not committed": ("COMMIT", 12),
    "after the last image, before closing": ("PRAGMA journal_mode=DELETE", 1),
}
PARTIAL = "long images under way"


def command(model, out, *more, n=20_000):
    options = (
        f"--dataset digits --first {IMAGES} --procedure sequential --radii 0,0.25,0.5 --n {n} --seed {SEED}"
    )
    return ["certify", str(model), *options.split(), "--out", str(out), *more]


def resume(model, out, **options):
    """The same command with --resume, in this process; return the finished content."""
    result = CliRunner().invoke(app, command(model, out, "--resume", **options))
    assert result.exit_code == 0, result.exception
    assert sorted(path.name for path in out.iterdir()) == [FILE]
    return content(out)


def finished_images(out):
    """Rows of a run that another process is writing; 0 until it has got that far."""
    try:
        return query(out, "SELECT COUNT(*) FROM certificates")[0][0]
    except sqlite3.OperationalError:  # no file, no table, or locked for a moment
        return 0


@pytest.fixture(scope="module")
def whole(model_folder, tmp_path_factory):
    """The content of the run that nothing interrupts."""
    return resume(model_folder, tmp_path_factory.mktemp("whole") / "run")


def kill_when(rows, model, out):
    """Start the real command and kill it when `rows` images are stored; return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "smoothcert", *command(model, out)], stderr=subprocess.PIPE, text=True
    )
    with process:
        while process.poll() is None:
            if finished_images(out) >= rows:
                process.kill()
            time.sleep(0.002)  # leaves the core to the process
        return process.returncode, process.stderr.read()


@pytest.mark.parametrize("rows", KILLS)
def test_killed_from_outside(rows, model_folder, tmp_path, whole):
    for attempt in range(5):  # this process may be kept waiting until the other is done: then once more
        out = tmp_path / str(attempt)
        code, complaint = kill_when(rows, model_folder, out)
        if code != 0:
            break
    assert code == -signal.SIGKILL, complaint
    assert rows <= finished_images(out) < IMAGES
    assert resume(model_folder, out) == whole


@pytest.fixture(scope="module")
def crashes(model_folder, tmp_path_factory):
    """Folders left by processes that died at each of the places, by name."""
    base = tmp_path_factory.mktemp("crashes")
    folders = {name: base / name.replace(" ", "-") for name in [*PLACES, PARTIAL]}
    jobs = [[*place, None, *command(model_folder, folders[name], n=3_000)] for name, place in PLACES.items()]
    partial = ("INSERT OR REPLACE INTO unfinished", 80, 0)  # states are stored after every batch
    jobs.append([*partial, *command(model_folder, folders[PARTIAL], "--workers", "1", n=3_000)])
    done = subprocess.run(
        [sys.executable, str(DRIVER), *map(json.dumps, jobs)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [-signal.SIGKILL] * len(jobs), done.stderr
    return folders


@pytest.fixture(scope="module")
def short(model_folder, tmp_path_factory):
    """As `whole`, with fewer votes per image."""
    return resume(model_folder, tmp_path_factory.mktemp("short") / "run", n=3_000)


@pytest.mark.parametrize("place", PLACES)
def test_killed_at_a_named_place(place, model_folder, crashes, short, tmp_path):
    out = shutil.copytree(crashes[place], tmp_path / "run")
    left = {
        "empty file": 0,
        "before the manifest": 0,
        "inside the manifest": 0,
        "manifest not committed": 0,
        "after the last image, before closing": IMAGES,
    }
    rows = finished_images(out)
    assert rows == left[place] if place in left else 0 < rows < IMAGES
    if place == "empty file":
        assert (out / FILE).stat().st_size == 0
    else:
        assert bool(query(out, "SELECT * FROM sqlite_master")) == (place not in left or rows > 0)
    assert resume(model_folder, out, n=3_000) == short


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.99])
def test_killed_and_the_log_cut_short_too(kept, model_folder, crashes, short, tmp_path):
    """As after a loss of power: of the last transactions only some have reached the disk."""
    out = shutil.copytree(crashes["image not committed"], tmp_path / "run")
    log = out / f"{FILE}-wal"
    whole = log.read_bytes()
    log.write_bytes(whole[: int(kept * len(whole))])
    assert resume(model_folder, out, n=3_000) == short


def test_killed_with_partial_counts_stored(model_folder, crashes, short):
    out = crashes[PARTIAL]
    states = dict(query(out, "SELECT * FROM unfinished"))
    assert states
    assert all(votes_in(json.loads(state)) > 0 for state in states.values())  # in any phase
    assert not states.keys() & {idx for (idx,) in query(out, "SELECT idx FROM certificates")}
    assert resume(model_folder, out, n=3_000) == short


def test_resume_draws_only_what_is_missing(classifier, digits, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "SAVE_SECONDS", 0)
    # Jobs of one batch, whatever the clock says.
    monkeypatch.setattr("smoothcert.sampling.schedule.JOB_SECONDS", 0)
    procedure = sc.FixedSample(n0=128, n=6_400)

    drawn = {"votes": 0, "most": None}

    def counting(self, chunks, draw=Sampler.draw):
        drawn["votes"] += sum(chunk.votes for chunk in chunks)
        if drawn["most"] is not None and drawn["votes"] > drawn["most"]:
            raise KeyboardInterrupt
        return draw(self, chunks)

    monkeypatch.setattr(Sampler, "draw", counting)

    def certify(out, stop_after=None):
        drawn.update(votes=0, most=stop_after)
        options = {"procedure": procedure, "seed": SEED, "indices": [3, 8], "workers": 1, "batch_size": 256}
        try:
            sc.certify(classifier, digits, out=out, resume=True, engine="torch", **options)
        except KeyboardInterrupt:
            assert stop_after is not None
        return drawn["votes"]

    scratch = certify(tmp_path / "whole")
    certify(tmp_path / "stopped", stop_after=9_000)
    saved = [json.loads(state) for (state,) in query(tmp_path / "stopped", "SELECT state FROM unfinished")]
    done = query(tmp_path / "stopped", "SELECT COALESCE(SUM(samples), 0) FROM certificates")[0][0]
    stored = done + sum(map(votes_in, saved))
    assert done == 6_528
    assert len(saved) == 1
    assert stored > 8_000
    assert certify(tmp_path / "stopped") == scratch - stored
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")
