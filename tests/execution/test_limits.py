"""Runs that are stopped, by a limit or by Ctrl-C: what was counted is kept, and the end is the same."""

import time

import pytest

import smoothcert as sc
from pieces import certified, dataset, drawn, planned, smoothed
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution import Limit
from store.content import content, query

LONG = sc.FixedSample(n0=64, n=6_400)


@pytest.fixture(autouse=True)
def small_jobs(monkeypatch):
    monkeypatch.setattr("smoothcert.sampling.schedule.JOB_SECONDS", 0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("limits") / "whole"
    certified(out, procedure=LONG)
    return content(out)


def test_so_many_votes_and_no_more(whole, tmp_path):
    out, starts, how = tmp_path / "run", 0, {"procedure": LONG, "batch_size": 64, "max_votes": 20_000}
    run = certified(out, **how)
    while not run.is_complete:
        starts += 1
        done = sum(run.column("samples"))
        assert starts < 9
        under_way = query(out, "SELECT COUNT(*) FROM unfinished")[0][0]
        assert under_way
        assert done <= starts * 20_000 + 1_000
        run = certified(out, resume=True, **how)
    # 12 images of 6,464 votes, 20,000 a time: nothing that was counted is drawn twice.
    assert starts == 3
    assert content(out) == whole


def test_minutes_are_a_limit_too(tmp_path, monkeypatch):
    ticks = iter(range(10_000))
    monkeypatch.setattr("smoothcert.execution.runner.time.monotonic", lambda: float(next(ticks)))
    run = certified(tmp_path / "run", procedure=LONG, batch_size=64, max_minutes=0.5)
    monkeypatch.undo()
    assert 0 < len(run) + len(query(tmp_path / "run", "SELECT * FROM unfinished")) < 12
    assert not run.is_complete


def test_ctrl_c_keeps_what_was_counted(whole, tmp_path, monkeypatch):
    from smoothcert.execution.runner import _Course

    after, calls = _Course.after_batch, []

    def interrupted(self, under_way):
        after(self, under_way)
        calls.append(self)
        if len(calls) == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(_Course, "after_batch", interrupted)
    monkeypatch.setattr("smoothcert.execution.runner._SHOW_SECONDS", 0.0)
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        certified(out, procedure=LONG, batch_size=64)
    counted = calls[0]._drawn
    assert counted > 1_000
    status = sc.run_status(out)
    assert status.state.name == "STOPPED"
    # The rest is drawn, and not a vote more.
    drawn_again = []
    monkeypatch.setattr(
        _Course, "after_batch", lambda self, under_way: (after(self, under_way), drawn_again.append(self))
    )
    certified(out, procedure=LONG, batch_size=64, resume=True)
    assert content(out) == whole
    assert drawn_again[0]._drawn == 12 * 6_464 - counted


def test_a_panel_and_a_shard_stop_alike(tmp_path):
    panel = sc.Panel(sc.VotingEnsemble([smoothed().model, smoothed().model]), names=["a", "b", "both"])
    outs = {name: tmp_path / name for name in panel.names}
    how = {"procedure": LONG, "workers": 1, "batch_size": 64, "max_votes": 9_000}
    runs = sc.certify_panel(smoothed(panel), dataset(), outs=outs, seed=7, **how)
    assert all(not run.is_complete for run in runs.values())
    planned(tmp_path / "plan.json", procedure=LONG)
    shard = drawn(tmp_path / "plan.json", "1/3", tmp_path / "shard", batch_size=64, max_votes=9_000)
    assert 0 < shard.missing < 4


@pytest.mark.parametrize(
    "limit", [{"votes": 0}, {"votes": 1.5}, {"votes": True}, {"minutes": 0}, {"minutes": float("nan")}]
)
def test_what_is_no_limit(limit):
    with pytest.raises(InvalidArgumentError, match=f"max_{next(iter(limit))} must be a positive number"):
        Limit(**limit)


def test_time_passes_in_seconds():
    assert Limit(minutes=0.5).is_reached(0, 30.0)
    assert not Limit(minutes=0.5).is_reached(10**9, 29.9)
    assert not Limit().is_reached(10**9, time.time())
