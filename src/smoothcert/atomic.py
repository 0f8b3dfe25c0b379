"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from smoothcert.errors import StoreError

_EXCLUSIVELY = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_atomically(path: Path, content: bytes | str, *, private: bool = False) -> None:
    """Write `content` to `path` so that a reader or a crash never sees half of it.

    Makes missing parent folders and keeps the mode of a file that it replaces. Not for devices, pipes or links: only
    a regular file is ever replaced. On failure (a full disk, say) the old file stays as it was, what was begun is
    removed, and `StoreError` says what happened.

    Args:
        path: the file.
        content: its bytes, or text to be written as UTF-8; half characters of odd file names as backslashes.
        private: whether only its owner may read it (mode 0600), whatever stood there before.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    mode = check_target(path)
    mode = 0o600 if private else mode
    with _named(path):
        made = _make_folders(path.parent)
        # Not derived from the name: nobody can plant a link under it, and the longest names still fit.
        temporary = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            descriptor = os.open(temporary, _EXCLUSIVELY, 0o666 if mode is None else 0o600)
        except BaseException:
            _remove_folders(made)
            raise
        try:
            with os.fdopen(descriptor, "wb") as file:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            _remove_folders(made)
            raise
        _sync_folder(path.parent)


def check_target(path: Path) -> int | None:
    """Return the mode of the regular file at `path`, None if there is none; refuse everything else.

    Cheap, so that a command can ask before hours of work whether its result will have a place.
    """
    if not path.name:
        raise StoreError(f"cannot write {str(path)!r}: it names no file; give the name of a file")
    with _named(path):
        try:
            status = path.lstat()
        except FileNotFoundError:
            return None
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"cannot write {path}: it is a {_kind(status.st_mode)}; choose another name")
    return status.st_mode & 0o777


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn what the system says about a path into one of our errors."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write {path}: {reason}; free some space or choose another place") from error
    except ValueError as error:  # a null character, or half a character, in the path
        raise StoreError(f"cannot write {str(path)!r}: {error}; choose another name") from error


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder with its parents; return those that were not there, the deepest first."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except BaseException:
        _remove_folders(missing)
        raise
    return missing


def _remove_folders(made: list[Path]) -> None:
    for folder in made:
        with contextlib.suppress(OSError):  # others may have begun to use it
            folder.rmdir()


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, on file systems that can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(mode), "device")
