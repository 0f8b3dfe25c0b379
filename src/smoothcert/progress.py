"""Progress with time left: a bar on a terminal, plain lines elsewhere, nothing for what takes two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

_SILENT_SECONDS = 2.0
_LINE_SECONDS = 10.0


class Progress(Protocol):
    """Told how far a job has come."""

    def __call__(self, done: int, note: str) -> None:
        """Take the number of finished items and a few words about them."""
        ...


@contextmanager
def progress(title: str, total: int, *, shown: bool | None = None) -> Iterator[Progress]:
    """Yield a function that shows progress on standard error.

    Args:
        title: what is being done.
        total: number of items.
        shown: False shows nothing; None shows it only on a terminal.
    """
    terminal = sys.stderr.isatty()
    if shown is False or (shown is None and not terminal):
        yield _silent
    elif terminal:
        with _bar(title, total) as bar:
            yield bar
    else:
        yield _Lines(title, total)


def _silent(done: int, note: str) -> None:
    """Show nothing."""


class _Lines:
    """Writes a line now and then, the first after two seconds."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.begin = title, total, time.monotonic()
        self.next_line = self.begin + _SILENT_SECONDS

    def __call__(self, done: int, note: str) -> None:
        now = time.monotonic()
        if now < self.next_line:
            return
        self.next_line = now + _LINE_SECONDS
        left = f", {(now - self.begin) / done * (self.total - done):.0f} s left" if done else ""
        print(f"{self.title}: {done} of {self.total}{left}; {note}", file=sys.stderr, flush=True)


@contextmanager
def _bar(title: str, total: int) -> Iterator[Progress]:
    """Show a bar that starts after two seconds, so that short jobs leave no trace."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=total, note="")
    begin = time.monotonic()

    def show(done: int, note: str) -> None:
        if not bar.live.is_started and time.monotonic() - begin > _SILENT_SECONDS:
            bar.start()
        bar.update(task, completed=done, note=note)

    try:
        yield show
    finally:
        bar.stop()
