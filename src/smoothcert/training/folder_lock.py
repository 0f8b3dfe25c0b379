"""One training per folder at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from smoothcert.errors import CheckpointError

_LOCK_FILE = ".training.lock"


@contextlib.contextmanager
def only_training_in(folder: Path) -> Iterator[None]:
    """Hold a folder for this training, made if missing; refuse it while another one, or a worker of it, is at work.

    Not a mark that a crash would leave behind: the system lets go of the lock when the last process that holds it
    ends. Nothing is locked on systems without `fcntl`.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / _LOCK_FILE).open("a+")
    except OSError as error:
        raise CheckpointError(f"cannot write to {folder}: {error.strerror or error}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CheckpointError(
                f"another training is at work in {folder}; wait for it, stop it, or choose another folder"
            ) from None
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                (folder / _LOCK_FILE).unlink()  # still held, so nobody else has it
                folder.rmdir()  # only if nothing else was written
