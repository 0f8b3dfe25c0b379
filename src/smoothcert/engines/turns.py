"""Code of the user's own is asked by one thread at a time.

Whether such code bears two threads cannot be found out by trying: a scratch buffer that two calls share mixes them up
once in thousands of calls, and a vote of two images mixed is no classifier's. So it is never shared.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# One for all models of the process, because two of them may share a part; entered again where one asks another.
_locks = [threading.RLock()]


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other thread runs a model with code of the user's own, and keep others waiting inside."""
    with _locks[0]:
        yield


def _renew() -> None:
    """Begin with a free lock in a forked child, where the thread that held it does not live on."""
    _locks[0] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
