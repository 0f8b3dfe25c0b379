"""One job per folder: refused at the start, and free again however the holder ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smoothcert.errors import StoreError
from smoothcert.locking import only_one_in

HOLD = """
import sys
from pathlib import Path
from smoothcert.errors import StoreError
from smoothcert.locking import only_one_in

with only_one_in(Path(sys.argv[1]), ".lock", "test", StoreError):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder):
    """Another process that holds a folder until its input ends."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], **pipes)
    assert process.stdout.readline() == "held\n"
    return process


def refused(folder):
    said = None
    try:
        with only_one_in(folder, ".lock", "test", StoreError):
            pass
    except StoreError as error:
        said = str(error)
    assert said is None or said.startswith(f"another test is at work in {folder}; wait for it")
    return said is not None


@pytest.mark.slow
@pytest.mark.parametrize("end", ["itself", "SIGTERM", "SIGKILL"])
def test_a_second_process_is_refused_until_the_first_has_ended(end, tmp_path):
    folder = tmp_path / "run"
    with hold(folder) as process:
        assert refused(folder)
        if end != "itself":
            process.send_signal(getattr(signal, end))
        process.stdin.close()
        process.wait()
    assert not refused(folder)
    with only_one_in(folder, ".lock", "test", StoreError):
        assert refused(folder)  # from this process too


def test_a_forked_child_does_not_keep_the_lock(tmp_path):
    reading, writing = os.pipe()
    with only_one_in(tmp_path, ".lock", "test", StoreError):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # until the parent has looked
            os._exit(0)
    assert not refused(tmp_path)
    os.close(writing)
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0


def test_nothing_is_left_behind(tmp_path):
    with only_one_in(tmp_path / "a" / "b", ".lock", "test", StoreError):
        assert (tmp_path / "a" / "b" / ".lock").is_file()
    assert list(tmp_path.iterdir()) == []
    with only_one_in(tmp_path / "a" / "b", ".lock", "test", StoreError):
        (tmp_path / "a" / "b" / "kept").touch()
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["kept"]
    with pytest.raises(StoreError, match=r"cannot write to .*kept/b: Not a directory"):  # noqa: SIM117
        with only_one_in(tmp_path / "a" / "b" / "kept" / "b", ".lock", "test", StoreError):
            pass


@pytest.mark.parametrize("planted", ["link", "pipe"])
def test_a_planted_lock_is_not_followed(planted, tmp_path):
    lock, elsewhere = tmp_path / "run" / ".lock", tmp_path / "elsewhere"
    lock.parent.mkdir()
    if planted == "link":
        lock.symlink_to(elsewhere)
    else:
        os.mkfifo(lock)
    with pytest.raises(StoreError, match="cannot write to"):  # noqa: SIM117
        with only_one_in(lock.parent, ".lock", "test", StoreError):
            pass
    assert not elsewhere.exists()


def test_a_lock_that_was_removed_while_waiting_is_taken_anew(tmp_path, monkeypatch):
    """The holder removes the file between this one's opening and its locking."""
    import smoothcert.locking as locking

    lock, is_at, calls = tmp_path / ".lock", locking._is_at, []

    def removed_once(file, descriptor):
        calls.append(file)
        if len(calls) == 1:
            Path(file).unlink()
        return is_at(file, descriptor)

    monkeypatch.setattr(locking, "_is_at", removed_once)
    with only_one_in(tmp_path, ".lock", "test", StoreError):
        assert lock.is_file()
        assert len(calls) == 2
