"""Progress with time left: a bar on a terminal, plain lines elsewhere, nothing for what takes two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from smoothcert.visible import visible

_SILENT_SECONDS = 2.0
_LINE_SECONDS = 10.0
_BAR_SECONDS = 1.0  # between estimates of the time left
TimeLeft = Callable[[], float | None]
"""Says how many seconds are left; None if it cannot."""


class Progress(Protocol):
    """Told how far a job has come."""

    def __call__(self, done: int, note: str, left: TimeLeft | None = None) -> None:
        """Take the number of finished items, a few words about them, and who knows how long the rest will take.

        Without the last, the items left are expected to take as long as those finished. It is asked only when shown.
        """
        ...


@contextmanager
def progress(title: str, total: int, *, shown: bool | None = None) -> Iterator[Progress]:
    """Yield a function that shows progress on standard error.

    Args:
        title: what is being done.
        total: number of items.
        shown: False shows nothing; None shows it only on a terminal.
    """
    if not _is_shown(shown):
        yield _silent
    elif sys.stderr.isatty():
        with _bar(title, total) as bar:
            yield bar
    else:
        yield _Lines(title, total)


def tell(line: str, *, shown: bool | None = None) -> None:
    """Write a line about a job that begins, where its progress is shown.

    Args:
        line: what to say; what cannot be seen in it is shown as an escape.
        shown: as for `progress`.
    """
    if _is_shown(shown):
        print(visible(line), file=sys.stderr, flush=True)


def _is_shown(shown: bool | None) -> bool:
    return sys.stderr.isatty() if shown is None else shown


def _silent(done: int, note: str, left: TimeLeft | None = None) -> None:
    """Show nothing."""


class _Lines:
    """Writes a line now and then, the first after two seconds."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.begin = title, total, time.monotonic()
        self.next_line = self.begin + _SILENT_SECONDS

    def __call__(self, done: int, note: str, left: TimeLeft | None = None) -> None:
        now = time.monotonic()
        if now < self.next_line:
            return
        self.next_line = now + _LINE_SECONDS
        told = _time_left(now - self.begin, done, self.total, left)
        print(
            f"{self.title}: {done} of {self.total}{told and ', '}{told}; {note}", file=sys.stderr, flush=True
        )


def _time_left(elapsed: float, done: int, total: int, left: TimeLeft | None) -> str:
    """Return the time left in words; empty where nothing tells."""
    seconds = left() if left is not None else elapsed / done * (total - done) if done else None
    if seconds is None:
        return ""
    seconds = max(seconds, 0.0)  # a trial may do more than it set out to
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit} left"
    return f"{seconds:.0f} s left"


@contextmanager
def _bar(title: str, total: int) -> Iterator[Progress]:
    """Show a bar that starts after two seconds, so that short jobs leave no trace."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TextColumn("{task.fields[note]}", markup=False),
    )
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=total, note="", left="")
    begin = time.monotonic()
    next_told, told = begin + _SILENT_SECONDS, ""

    def show(done: int, note: str, left: TimeLeft | None = None) -> None:
        nonlocal next_told, told
        now = time.monotonic()
        if now >= next_told:
            if not bar.live.is_started:
                bar.start()
            next_told, told = now + _BAR_SECONDS, _time_left(now - begin, done, total, left)
        bar.update(task, completed=done, note=note, left=told)

    try:
        yield show
    finally:
        bar.stop()
