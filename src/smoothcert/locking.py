"""One job per folder at a time, by a lock that dies with its process."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from smoothcert.errors import SmoothcertError

_MOST_BYTES = 4_096  # of a lock file

_held: set[int] = set()  # descriptors that a forked child has to close, or it would hold the lock too


@dataclass(frozen=True)
class Holder:
    """The process that holds a folder, as it wrote it into its lock.

    Args:
        pid: of the process.
        host: name of its machine.
        started: when the process began, in ticks of that machine; None where the system does not tell.
    """

    pid: int
    host: str
    started: int | None

    @property
    def is_alive(self) -> bool | None:
        """Whether it still runs; None for a process of another machine, of which nothing can be known from here."""
        if self.host != socket.gethostname():
            return None
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:  # somebody else's
            pass
        return _started(self.pid) == self.started  # else another process has its number now


def holder_of(folder: Path, file_name: str) -> Holder | None:
    """Return who holds a folder, or held it when it was killed; None for nobody. Takes no lock.

    Args:
        folder: that is held.
        file_name: of the lock in it.
    """
    try:
        with (folder / file_name).open("rb") as file:
            told = json.loads(file.read(_MOST_BYTES))
        return Holder(int(told["pid"]), str(told["host"]), told["started"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):  # just being written, or by something else
        return Holder(0, "", None)


def _started(pid: int) -> int | None:
    """Return when a process began, in ticks since the machine did; None where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _sign(descriptor: int) -> None:
    """Write into a lock whose it is."""
    with contextlib.suppress(OSError):  # a full disk: then nobody can tell, and no more
        os.ftruncate(descriptor, 0)
        mine = Holder(os.getpid(), socket.gethostname(), _started(os.getpid()))
        os.pwrite(descriptor, json.dumps(asdict(mine)).encode(), 0)


@contextlib.contextmanager
def only_one_in(
    folder: Path, file_name: str, work: str, error: type[SmoothcertError], *, with_children: bool = False
) -> Iterator[None]:
    """Hold a folder, made if missing; refuse it while another process, or another thread, holds it.

    Not a mark that a crash leaves behind: the system lets go when the process ends, however it ends. A file that a
    crash left is taken over. Readers are not kept out. Nothing is locked on systems without `fcntl`.

    Args:
        folder: what to hold; if it was made for this and is empty in the end, it is removed.
        file_name: of the lock in it.
        work: what is done there, for the message.
        error: what to raise.
        with_children: forked children hold the folder too, until the last of them has ended.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _take(folder / file_name)
    except BlockingIOError:
        raise error(
            f"another {work} is at work in {folder}; wait for it, stop it, or choose another folder"
        ) from None
    except OSError as failure:
        _remove(made)
        raise error(f"cannot write to {folder}: {failure.strerror or failure}") from failure
    _sign(descriptor)
    if not with_children:
        _held.add(descriptor)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / file_name).unlink()  # still held: who waits for this very file looks again
        _held.discard(descriptor)
        os.close(descriptor)
        _remove(made)


def _take(file: Path) -> int:
    """Return the descriptor of a locked file; raise BlockingIOError if somebody has it."""
    while True:
        descriptor = os.open(
            file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644
        )
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{file.name} in it is no regular file; remove it")
            _lock(descriptor)
            if _is_at(file, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # removed by its holder between the two calls: there is a new one, or none


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks: as on systems without them
        return


def _is_at(file: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(file.stat(follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove(made: list[Path]) -> None:
    """Remove folders that are empty again, innermost first."""
    with contextlib.suppress(OSError):
        for path in made:
            path.rmdir()


def _let_go_in_child() -> None:
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
