"""Writing: whole or not at all, through nobody's link, and only over a regular file."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from smoothcert import atomic
from smoothcert.atomic import check_target, write_atomically
from smoothcert.errors import StoreError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_text_and_bytes_and_makes_folders(tmp_path):
    write_atomically(tmp_path / "a" / "b" / "text", "grün\n")
    write_atomically(tmp_path / "a" / "b" / "text", b"bytes")
    assert (tmp_path / "a" / "b" / "text").read_bytes() == b"bytes"
    assert names(tmp_path / "a" / "b") == ["text"]


def test_a_link_planted_under_the_old_temporary_name_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f".out.{os.getpid()}.part").symlink_to(precious)
    write_atomically(tmp_path / "out", "new")
    assert precious.read_text() == "mine"
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_text() == "new"


def test_a_link_planted_under_the_very_name_that_comes_next_is_not_followed(tmp_path, monkeypatch):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda size: "known")
    (tmp_path / ".known.part").symlink_to(precious)
    with pytest.raises(StoreError, match=r"cannot write .*out"):
        write_atomically(tmp_path / "out", "new")
    assert precious.read_text() == "mine"
    assert (tmp_path / ".known.part").is_symlink()  # somebody else's, so it is left alone


def test_temporary_names_differ_from_write_to_write(tmp_path, monkeypatch):
    seen = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: (seen.append(Path(old)), replace(old, new)))
    for _ in range(8):
        write_atomically(tmp_path / "out", "new")
    assert len(set(seen)) == 8
    assert {path.parent for path in seen} == {tmp_path}


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


KINDS = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "link": lambda path: path.symlink_to("elsewhere"),
    "socket": make_socket,
}


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_regular_file_is_replaced(tmp_path, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    (tmp_path / "elsewhere").write_text("kept")
    target = Path("out")
    KINDS[kind](target)
    before = target.lstat()
    with pytest.raises(StoreError, match=f"cannot write out: it is a {kind}"):
        write_atomically(target, "new")
    with pytest.raises(StoreError, match=f"cannot write out: it is a {kind}"):
        check_target(target)
    assert target.lstat() == before
    assert names(tmp_path) == ["elsewhere", "out"]
    assert (tmp_path / "elsewhere").read_text() == "kept"


def test_a_device_is_not_replaced(tmp_path):
    device = tmp_path / "device"  # of our own: a test that fails must not cost the machine its /dev/null
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device needs rights that this user lacks")
    with pytest.raises(StoreError, match="it is a device"):
        write_atomically(device, "new")
    assert stat.S_ISCHR(device.lstat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    file = tmp_path / "out"
    file.write_text("old")
    file.chmod(mode)
    write_atomically(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_text() == "new"


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "out", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_name_as_long_as_the_system_takes_can_be_written(tmp_path):
    write_atomically(tmp_path / ("n" * 255), "new")
    assert (tmp_path / ("n" * 255)).read_text() == "new"


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failure, step):
    write_atomically(tmp_path / "out", "old")

    def fail(*_):
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else StoreError):
        write_atomically(tmp_path / "out", "new")
    with pytest.raises((KeyboardInterrupt, StoreError)):
        write_atomically(tmp_path / "made" / "for" / "it", "new")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize("name", ["a\0b", "n" * 300, "\udfff\ud800"])
def test_a_name_that_the_system_does_not_take_is_an_error_of_ours(tmp_path, name):
    with pytest.raises(StoreError, match="cannot write"):
        write_atomically(tmp_path / name, "new")
    assert names(tmp_path) == []


def test_a_file_where_a_folder_is_needed(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(StoreError, match="cannot write"):
        write_atomically(tmp_path / "file" / "out", "new")
    assert (tmp_path / "file").read_text() == "kept"


def test_half_a_character_is_written_visibly(tmp_path):
    write_atomically(tmp_path / "out", "name \udcff.tsv")  # what Python makes of a file name that is no UTF-8
    assert (tmp_path / "out").read_text() == "name \\udcff.tsv"
