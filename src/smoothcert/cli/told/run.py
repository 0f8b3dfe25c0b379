"""What is said about a run that ends, or is stopped before its end, and the exit code that says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import typer

from smoothcert import report, store
from smoothcert.amounts import amount
from smoothcert.cli.told.ending import ending_on_terminate, exit_code

FAILED, STOPPED = 1, 3
"""Exit codes of a run with images on which the model failed, and of one that a limit stopped."""


@contextmanager
def telling_how_to_continue(out: Path) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end with a sentence that says how to go on."""
    try:
        with ending_on_terminate():
            yield
    except KeyboardInterrupt as interrupt:
        report.say(f"stopped; what was counted is kept, {_continue(out)}", error=True)
        raise typer.Exit(exit_code(interrupt)) from None


def told_end(runs: Mapping[str, store.Run]) -> None:
    """Print what runs show, and leave with the exit code for what is missing of them.

    Args:
        runs: by folder.
    """
    report.print_summaries([report.Summary.of_run(run, name) for name, run in runs.items()])
    folder = Path(next(iter(runs)))
    left = store.run_status(folder).left
    if left:
        report.say(f"stopped by its limit, {amount(left, 'image')} to go; {_continue(folder)}", error=True)
        raise typer.Exit(STOPPED)
    if any(run.failures for run in runs.values()):
        raise typer.Exit(FAILED)


def _continue(out: Path) -> str:
    """Say how a run goes on: by its own command where the folder tells it."""
    command = None
    if (out / store.FILE_NAME).is_file():
        command = report.resume_command(store.run_status(out))
    return "the same command with --resume continues" if command is None else f"continue with: {command}"
