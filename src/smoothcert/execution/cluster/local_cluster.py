"""A Ray cluster of this machine alone, for one job: starts it, and leaves nothing of it behind."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smoothcert.errors import WorkerError
from smoothcert.execution.cluster.library import ray_library
from smoothcert.execution.cluster.warden import LOCK

_LONGEST = 30  # letters of the folder for temporary files: Ray's sockets must fit into 107
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no request to anybody
    "RAY_enable_metrics_collection": "0",
    "RAY_worker_niceness": "0",  # else workers give way to everything else, unlike threads here
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_END_SECONDS = 20.0


@contextmanager
def local_cluster(cores: int) -> Iterator[tuple[str, Path]]:
    """Yield the address of a cluster that offers some cores of this machine, and the file of the token that opens it.

    A process of our own holds it and ends it with this one, also when this one is killed.

    Args:
        cores: workers that it has room for.
    """
    ray_library()
    folder = sessions_folder() / f"{os.getpid()}-{secrets.token_hex(3)}"
    clear_sessions(folder.parent)
    folder.mkdir(mode=0o700)
    token = folder / "token"  # ours, in place of one that Ray would leave in the home folder
    token.write_text(secrets.token_hex(32))
    token.chmod(0o600)
    warden = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "smoothcert.execution.cluster.warden",
            str(folder),
            str(cores),
            str(os.getpid()),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_QUIET, **opened_by(token)},
        start_new_session=True,  # Ctrl-C is for this process
    )
    try:
        assert warden.stdout is not None
        with warden.stdout:
            told = json.loads(warden.stdout.readline() or '{"error": "it ended at once"}')
        if "error" in told:
            raise WorkerError(
                f"a local Ray cluster cannot be started: {told['error']}; draw the votes here, without --ray"
            )
        yield str(told["address"]), token
    finally:
        assert warden.stdin is not None
        warden.stdin.close()  # the end of the pipe tells it
        try:
            warden.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            warden.kill()
            warden.wait()


def opened_by(token: Path) -> dict[str, str]:
    """Return the settings by which Ray asks for a token, or shows it."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}


def sessions_folder() -> Path:
    """Return the folder for what local clusters write, one folder each; this user's alone."""
    place = Path(tempfile.gettempdir())
    if len(str(place)) > _LONGEST:
        place = Path("/tmp")
    folder = place / f"smoothcert-ray-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise WorkerError(
            f"cannot write to {folder}, where local Ray clusters live: {error.strerror}"
        ) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise WorkerError(
            f"{folder}, where local Ray clusters live, belongs to somebody else; have it removed"
        )
    return folder


def clear_sessions(folder: Path) -> None:
    """Remove what killed clusters left behind; those that are at work hold a lock.

    Args:
        folder: of all sessions.
    """
    for session in folder.iterdir():
        if not _is_held(session / LOCK):
            shutil.rmtree(session, ignore_errors=True)


def _is_held(lock: Path) -> bool:
    """Return whether a warden holds its lock, or may be about to."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return _starter_lives(lock.parent)
    except OSError:
        return True
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        return True
    finally:
        os.close(descriptor)


def _starter_lives(session: Path) -> bool:
    """Return whether the process that made a session's folder lives: its warden may not have started yet."""
    try:
        os.kill(int(session.name.partition("-")[0]), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        return True
    return True
