"""How a run is getting on, as another process sees it: from its folder alone."""

import json
import os
import socket
import subprocess

import pytest

import smoothcert as sc
from pieces import Picky, certified, drawn, planned
from smoothcert.errors import StoreError
from smoothcert.execution import Heartbeat
from smoothcert.report import status_lines, status_to_json
from smoothcert.store import RunWriter, State, hold, run_status
from store.content import query

LOCK = ".run.lock"


@pytest.fixture
def stopped(tmp_path):
    """A run that its limit has stopped."""
    certified(tmp_path / "run", procedure=sc.FixedSample(n0=64, n=6_400), batch_size=64, max_votes=9_000)
    return tmp_path / "run"


def said(folder):
    return " ".join(" ".join(status_lines(run_status(folder))).split())


def signed(folder, pid, host=None, started=None):
    told = {"pid": pid, "host": socket.gethostname() if host is None else host, "started": started}
    (folder / LOCK).write_text(json.dumps(told))


def gone():
    """The number of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_a_run_under_way_is_seen_by_others(tmp_path, monkeypatch):
    seen, beat = [], RunWriter.beat

    def watched(self, heartbeat):
        beat(self, heartbeat)
        seen.append(run_status(tmp_path / "run"))

    monkeypatch.setattr(RunWriter, "beat", watched)
    monkeypatch.setattr("smoothcert.execution.runner._BEAT_SECONDS", 0.0)
    monkeypatch.setattr("smoothcert.execution.runner._SHOW_SECONDS", 0.0)
    certified(tmp_path / "run", procedure=sc.FixedSample(n0=64, n=640), batch_size=64)
    assert {status.state for status in seen} == {State.RUNNING}
    assert {status.pid for status in seen} == {os.getpid()}
    assert seen[0].beat.votes == 0
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    middle = seen[len(seen) // 2]
    assert middle.beat.votes > 0
    assert middle.beat.votes_per_second > 0
    assert middle.beat.seconds_left >= 0
    assert middle.left == 12 - middle.done
    after = run_status(tmp_path / "run")
    assert (after.state, after.done, after.left, after.beat) == (State.FINISHED, 12, 0, None)
    assert said(tmp_path / "run").endswith("finished; 12 of 12 images done (100%)")


def test_a_stopped_run_says_how_to_go_on(stopped):
    assert run_status(stopped).state is State.STOPPED
    assert "stopped; " in said(stopped)
    assert "continue with: the same command with --resume" in said(
        stopped
    )  # its model is known in Python alone


def test_a_killed_run_is_not_taken_for_one_that_runs(stopped):
    signed(stopped, gone())
    assert run_status(stopped).state is State.STOPPED
    assert "stopped, its process was killed" in said(stopped)
    signed(stopped, os.getpid(), started=1)  # another process has its number now
    assert run_status(stopped).state is State.STOPPED


def test_nobody_is_kept_out_or_disturbed(stopped):
    with hold(stopped):
        before = (stopped / LOCK).stat()
        assert run_status(stopped).state is State.RUNNING
        assert (stopped / LOCK).stat() == before
    assert not (stopped / LOCK).exists()


def test_of_another_machine_only_its_heartbeat_tells(stopped, monkeypatch):
    signed(stopped, 1, host="elsewhere")
    assert run_status(stopped).state is State.RUNNING
    monkeypatch.setattr("smoothcert.store.status._SILENT_SECONDS", -1.0)
    assert run_status(stopped).state is State.SILENT
    assert "on elsewhere, which cannot be asked from here" in said(stopped)
    (stopped / LOCK).write_text("no JSON")
    assert run_status(stopped).state is State.SILENT


def test_failures_and_shards_are_told(tmp_path):
    planned(tmp_path / "plan.json", Picky())
    drawn(tmp_path / "plan.json", "3/3", tmp_path / "run", Picky())
    status = run_status(tmp_path / "run")
    assert (status.state, status.images, status.done, tuple(status.failures)) == (State.FAILED, 4, 2, (2, 5))
    text = said(tmp_path / "run")
    assert "(shard 3/3): finished, but for images on which the model failed; 2 of 4" in text
    assert "image 2 failed: RuntimeError: too dark" in text
    told = status_to_json(status)
    assert told["failures"] == {"2": status.failures[2], "5": status.failures[5]}
    assert told["resume_command"].startswith("smoothcert certify --from ")
    assert "--shard 3/3" in told["resume_command"]
    seed = query(tmp_path / "run", "SELECT value FROM manifest WHERE field = 'seed'")[0][0]
    assert seed not in json.dumps(told)


def test_lost_workers_and_a_word_that_is_old(stopped, monkeypatch):
    beat = Heartbeat(1, 2, 30_000, 60.0, 500.0, 7_500.0, workers=3, workers_lost=1)
    with hold(stopped):
        database = sc.store.RunDatabase(stopped, writable=True)
        database.save_heartbeat(sc.store.beating(beat))
        database.close()
        monkeypatch.setattr("smoothcert.report.tables.status_lines._STILL", 0.0)
        text = said(stopped)
    assert "30,000 votes since its start 60 s ago at 500 votes per second, about 2.1 h left" in text
    assert "3 workers, 1 worker lost" in text
    assert "a slow batch, or it hangs" in text


def test_what_is_no_heartbeat_harms_nobody(stopped):
    database = sc.store.RunDatabase(stopped, writable=True)
    database.save_heartbeat({"votes": 3})
    database.close()
    assert run_status(stopped).beat is None


def test_no_run_has_no_status(tmp_path):
    with pytest.raises(StoreError, match="is not a run folder"):
        run_status(tmp_path)
