"""Decoding many pictures at once, in worker processes that start when they are first needed.

Processes and not threads: half of the time goes into Python and Pillow code that holds the interpreter lock. They
are started afresh (by a fork server, or spawned), never forked from a process that may have threads.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.arguments import usable_cores
from smoothcert.data.picture import CROP, decode_picture

FEW = 16  # pictures up to which a process of its own would cost more than it saves

_lock = threading.Lock()
_pools: dict[int, ProcessPoolExecutor] = {}  # by process id: a forked child must not use its parent's pool
_died: set[int] = set()  # ids of processes whose workers have died; they do not try again


def decode_pictures(
    paths: Sequence[Path], numbers: NDArray[np.float64] | None = None, *, workers: int | None = None
) -> NDArray[np.uint8]:
    """Return the pictures as uint8 (N, 3, 224, 224), in the order of `paths`.

    The pixels do not depend on the number of workers. A picture that does not decode raises `DataError`.

    Args:
        paths: the files.
        numbers: (N, `RANDOM_CROP_NUMBERS`) in [0, 1) for random crops; None: centre crops.
        workers: processes to use, 1 for none but this; None: this one for 16 pictures or fewer, else one per core.
    """
    crops: list[list[float] | None] = [None] * len(paths) if numbers is None else numbers.tolist()
    count = usable_cores() if workers is None and len(paths) > FEW else workers or 1
    pictures = np.empty((len(paths), 3, CROP, CROP), dtype=np.uint8)
    for place, pixels in enumerate(_decoded(paths, crops, count)):
        pictures[place] = pixels
    return pictures


def _decoded(
    paths: Sequence[Path], crops: Sequence[Sequence[float] | None], count: int
) -> Sequence[NDArray[np.uint8]]:
    """Decode here or in worker processes; workers that die (memory, say) cost time and not the result."""
    # A daemonic process, such as another pool's worker, may not have children.
    if count > 1 and os.getpid() not in _died and not multiprocessing.current_process().daemon:
        try:
            chunk = max(1, min(16, len(paths) // (2 * count)))
            return list(_pool(count).map(decode_picture, paths, crops, chunksize=chunk))
        except BrokenProcessPool:
            close_decoders()
            _died.add(os.getpid())
            warnings.warn(
                "the processes that decode pictures died, so this one decodes from now on; free some memory, "
                'and in a script begin its work under `if __name__ == "__main__":`',
                RuntimeWarning,
                stacklevel=2,
            )
    return [decode_picture(path, crop) for path, crop in zip(paths, crops, strict=True)]


def _pool(count: int) -> ProcessPoolExecutor:
    """Return this process's pool; the first call decides its size."""
    with _lock:
        if os.getpid() not in _pools:
            _pools[os.getpid()] = ProcessPoolExecutor(
                count, mp_context=_context(), initializer=_leave_interrupts_to_the_parent
            )
        return _pools[os.getpid()]


def _context() -> BaseContext:
    """Return the safe way to start processes on this system."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # The server imports this package once, with torch; otherwise each worker would, for seconds and 300 MB.
    context.set_forkserver_preload(["__main__", decode_picture.__module__])
    return context


def _leave_interrupts_to_the_parent() -> None:
    """Keep Ctrl-C from ending workers with a traceback each; the parent ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def close_decoders() -> None:
    """End this process's decoding workers, if any; the next large batch starts new ones."""
    _died.discard(os.getpid())
    with _lock:
        pool = _pools.pop(os.getpid(), None)
    if pool is not None:
        pool.shutdown(wait=True, cancel_futures=True)


atexit.register(close_decoders)
