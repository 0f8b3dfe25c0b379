"""Ends a long command in good order when the system asks for it, as batch schedulers do before they kill."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_SIGNALLED = 128  # exit code of a program that a signal ended, plus its number


class Ended(KeyboardInterrupt):
    """Ctrl-C, or a signal that means the same.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = _SIGNALLED + number


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code that says how a command was stopped."""
    return interrupt.exit_code if isinstance(interrupt, Ended) else _SIGNALLED + signal.SIGINT


@contextmanager
def ending_on_terminate() -> Iterator[None]:
    """Let SIGTERM raise what Ctrl-C raises, so that what was counted is kept; in the main thread only."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise Ended(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
