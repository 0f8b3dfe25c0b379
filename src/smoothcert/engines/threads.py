"""How many threads torch may use while workers share the cores."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_threads_lock = threading.Lock()
_threads_before: list[int] = []  # the setting found by the first of those who are inside, one entry each


@contextmanager
def single_threaded_torch() -> Iterator[None]:
    """Let torch use one thread in this thread (and new ones) and put the setting back when the last one leaves.

    The setting is one for the whole process, so callers in several threads must agree on who puts it back.
    """
    with _threads_lock:
        _threads_before.append(_threads_before[0] if _threads_before else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _threads_lock:
            before = _threads_before.pop()
            torch.set_num_threads(before if not _threads_before else 1)
