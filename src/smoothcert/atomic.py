"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from smoothcert.errors import StoreError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write `content` to `path` so that a reader or a crash never sees half of it.

    Makes missing parent folders. On failure (a full disk, say) the old file stays as it was, the temporary
    one is removed, and `StoreError` says what happened.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write {path}: {reason}; free some space or choose another place") from error
