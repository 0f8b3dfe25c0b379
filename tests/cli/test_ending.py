"""SIGTERM and Ctrl-C end a run in good order: what was counted is kept, and the exit code says how it was stopped."""

import os
import signal
import threading

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from small_networks import save_network
from smoothcert.cli.app import app
from smoothcert.cli.told.ending import ending_on_terminate
from smoothcert.store import RunWriter


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_the_middle_of_a_run(number, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, finished = save_network(tmp_path / "model", seed=3), RunWriter.finished
    words = ["certify", str(model), "--first", "4", "--n", "640", "--workers", "1", "--out", "run"]

    def signalled(self, certificate):
        finished(self, certificate)
        if len(self.done) == 2:
            os.kill(os.getpid(), number)

    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "finished", signalled)
        stopped = CliRunner().invoke(app, words)
    assert stopped.exit_code == code
    assert signal.getsignal(signal.SIGTERM) == before
    said = " ".join(stopped.stderr.split())
    assert "stopped; what was counted is kept, continue with: smoothcert certify" in said
    assert len(sc.Run.open(tmp_path / "run")) >= 2
    assert CliRunner().invoke(app, [*words, "--resume"]).exit_code == 0
    assert sc.Run.open(tmp_path / "run").is_complete


def test_outside_the_main_thread_nothing_is_changed():
    before, seen = signal.getsignal(signal.SIGTERM), []

    def inside():
        with ending_on_terminate():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [before]
