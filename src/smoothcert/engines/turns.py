"""Who may ask a model when: code of the user's own one thread at a time, and nobody while one is being traced.

Whether code of the user's own bears two threads cannot be found out by trying: a scratch buffer that two calls share
mixes them up once in thousands of calls, and a vote of two images mixed is no classifier's. So it is never shared.
Tracing and exporting exchange torch's own `Module.__call__` for all threads of the process, so meanwhile no forward
pass may run.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _House:
    """The locks of one process; a forked child begins with free ones, for threads that held these do not live on."""

    def __init__(self) -> None:
        # One for all models of the process, because two of them may share a part; entered again where one asks another.
        self.own_code = threading.RLock()
        self.changed = threading.Condition()
        self.passes = 0
        self.tracing = False
        # Threads that trace or wait to: new passes wait for them, or they would wait for ever.
        self.want_to_trace = 0
        self.mine = threading.local()


_house = [_House()]


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other thread runs a model with code of the user's own, and keep others waiting inside.

    It is a forward pass too.
    """
    with _house[0].own_code, forward_pass():
        yield


@contextmanager
def forward_pass() -> Iterator[None]:
    """Wait while another thread traces, and keep those who want to waiting."""
    house = _house[0]
    depth = getattr(house.mine, "depth", 0)
    if not depth and not getattr(house.mine, "traces", False):
        with house.changed:
            house.changed.wait_for(lambda: not house.want_to_trace)
            house.passes += 1
    house.mine.depth = depth + 1
    try:
        yield
    finally:
        house.mine.depth = depth
        if not depth and not getattr(house.mine, "traces", False):
            with house.changed:
                house.passes -= 1
                house.changed.notify_all()


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other thread is in a forward pass or traces, and keep them waiting inside."""
    house = _house[0]
    if getattr(house.mine, "traces", False):
        yield
        return
    own = 1 if getattr(house.mine, "depth", 0) else 0  # a model may ask for another one to be traced
    with house.changed:
        house.want_to_trace += 1
    try:
        with house.changed:
            house.changed.wait_for(lambda: not house.tracing and house.passes == own)
            house.tracing = house.mine.traces = True
        yield
    finally:  # also if Ctrl-C came while it waited
        with house.changed:
            if getattr(house.mine, "traces", False):
                house.tracing = house.mine.traces = False
            house.want_to_trace -= 1
            house.changed.notify_all()


def _renew() -> None:
    _house[0] = _House()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
