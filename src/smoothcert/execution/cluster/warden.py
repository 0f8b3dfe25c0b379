"""A process that holds a local Ray cluster and ends all of it when its driver is gone, however that went.

Ray's own processes notice a killed driver one after the other, some after a minute. This one reads a pipe that only
the driver can write to; at its end it kills whatever it has started, and removes the folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

_LOOK_SECONDS = 1.0  # between two looks at whether the driver lives, beside its pipe
_TRIES = 3  # to start
_PATIENCE = 10.0  # seconds for killed processes to be gone
_SUBREAPER = 36  # Linux's number of the request
_STORE_BYTES = 256 * 2**20  # of the object store: classifiers and large images under way
LOCK = "warden.lock"
"""Is locked in a session's folder as long as its warden lives."""


def main(folder: Path, cores: int, driver: int) -> NoReturn:
    """Start a cluster, tell its address on standard output, and end it with the driver.

    Args:
        folder: for all that Ray writes; made by the caller, removed here.
        cores: that it offers.
        driver: process to end with.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    signal.signal(signal.SIGTERM, lambda *_: _end(folder))
    _adopt_orphans()
    _lock(folder / LOCK)
    watch = threading.Thread(target=_end_with, args=(driver, folder), daemon=True)
    watch.start()  # first: the driver may be killed while Ray starts
    try:
        print(json.dumps({"address": _started_at_last(folder, cores)}), flush=True)
    except BaseException as error:
        with contextlib.suppress(OSError):
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        _end(folder)
    watch.join()
    raise AssertionError("the watch ends the process")


def _end_with(driver: int, folder: Path) -> None:
    """Wait until the driver closes its end of the pipe or is gone, then end."""
    while os.getppid() == driver:
        if select.select([0], [], [], _LOOK_SECONDS)[0] and not os.read(0, 1):
            break
    _end(folder)


def _started_at_last(folder: Path, cores: int) -> str:
    """Try several times: Ray gives up on itself after half a minute, which a busy machine may need."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(Exception):
            return _started(folder, cores)
        _kill_all()
    return _started(folder, cores)


def _started(folder: Path, cores: int) -> str:
    import ray

    context: Any = ray.init(
        address="local",
        num_cpus=cores,
        num_gpus=None,
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        object_store_memory=_STORE_BYTES,
        _temp_dir=str(folder),
    )
    return str(context.address_info["gcs_address"])


def _adopt_orphans() -> None:
    """Ask Linux to make every orphan below this process its child, so that none can hide."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _lock(file: Path) -> None:
    """Hold a lock for as long as this process lives."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _end(folder: Path) -> NoReturn:
    """Kill all that was started, remove the folder and end."""
    _kill_all()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _kill_all() -> None:
    """Kill every process below this one and wait until it is gone."""
    until = time.monotonic() + _PATIENCE
    while (left := descendants(os.getpid())) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.02)


def descendants(process: int) -> list[int]:
    """Return the processes below one, from what Linux tells; none on other systems, where Ray ends its own."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [process]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
