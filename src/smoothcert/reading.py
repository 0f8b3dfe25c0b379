"""Files read whole and within limits, whatever stands at their path."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

from smoothcert.errors import SmoothcertError

MOST_BYTES = 64 * 2**20
"""Of a text file: far more than any card, recipe or log has."""
_DEPTH = 64  # of containers in containers in JSON; no file of ours has ten
_CONTAINERS = 1_000_000  # in one JSON text: empty ones take forty times their text in memory


def read_bytes(path: Path, error: type[SmoothcertError], *, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; refuse devices, pipes, folders and files that are too large.

    Never waits: opening a pipe that nobody writes into would.

    Args:
        path: the file; a link to one is followed.
        error: what to raise.
        most: bytes it may have.
    """
    size, content = _read(path, error, most + 1, whole=True)
    if size > most or len(content) > most:
        raise error(f"{path} is larger than the {most:,} bytes that such a file may have")
    return content


def read_start(path: Path, error: type[SmoothcertError], count: int) -> bytes:
    """Return the first bytes of a regular file of any size, fewer where it has fewer; refuses as `read_bytes` does.

    Args:
        path: the file; a link to one is followed.
        error: what to raise.
        count: bytes to read.
    """
    return _read(path, error, count, whole=False)[1]


def _read(path: Path, error: type[SmoothcertError], count: int, *, whole: bool) -> tuple[int, bytes]:
    """Return the size of a regular file and its first bytes; none where the whole file would be more than those."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise error(f"{path} is no regular file but a {_kind(status.st_mode)}; give a file")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return status.st_size, b"" if whole and status.st_size >= count else file.read(count)
        finally:
            os.close(descriptor)
    except OSError as failure:
        raise error(f"cannot read {path}: {failure.strerror or failure}") from failure
    except ValueError as failure:  # a null character in the path
        raise error(f"cannot read {str(path)!r}: {failure}") from failure


def read_text(path: Path, error: type[SmoothcertError], *, most: int = MOST_BYTES) -> str:
    """Return the content of a regular UTF-8 file, as `read_bytes` reads it."""
    try:
        return read_bytes(path, error, most=most).decode("utf-8")
    except UnicodeDecodeError as failure:
        raise error(f"{path} is not text: {failure}") from failure


def kind_of(path: Path) -> str | None:
    """Return what stands at a path, "file", "folder", "pipe", "socket" or "device"; None if nothing can be seen there.

    Unlike the methods of `Path` it raises for no path: not for a name that is too long, nor a link to itself.
    """
    try:
        return _kind(path.stat().st_mode)
    except (OSError, ValueError):
        return None


def parse_json(text: str | bytes, where: str, error: type[SmoothcertError]) -> Any:
    """Return what a JSON text says; refuse NaN and infinities, long numbers and deep nesting.

    Args:
        text: the JSON.
        where: named in the error, e.g. the file.
        error: what to raise.
    """
    try:
        lists = (
            text.count("[") + text.count("{")
            if isinstance(text, str)
            else text.count(b"[") + text.count(b"{")
        )
        if lists > _CONTAINERS:
            raise ValueError(f"more than {_CONTAINERS:,} lists and tables")
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        if _deeper_than(value, _DEPTH):
            raise ValueError(f"nested more than {_DEPTH} deep")
    except (ValueError, RecursionError) as failure:
        raise error(f"{where} is no JSON that can be read: {failure}") from failure
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):  # 1e400 is written like a number
        raise ValueError(f"{digits[:20]} is beyond all floats")
    return number


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _kind(mode: int) -> str:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(mode), "device")
