"""Drives readers of damaged files: each must end in time and memory, with a result or a named error."""

import contextlib
import functools
import io
import resource
import signal
from pathlib import Path

from typer.main import get_command

from smoothcert.cli.app import app
from smoothcert.errors import SmoothcertError

SECONDS = 5.0
MEGABYTES = 500
EXIT_CODES = (0, 1, 2, 3)
LONGEST_MESSAGE = 5_000


class HungError(BaseException):
    """A reader took too long. No Exception: nothing that it calls may swallow it."""


def check_readers(calls):
    """Call each reader; return how many took the file for a good one.

    Args:
        calls: (title, function without arguments), the title for the message of a failure.
    """
    return sum(_passes(title, call) for title, call in calls)


def command(*arguments):
    """Return a reader that runs a command line in this process, as `main` would."""

    def run():
        said = io.TextIOWrapper(io.BytesIO())
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                _commands().main([str(argument) for argument in arguments], prog_name="smoothcert")
            except SystemExit as end:
                code = end.code
        assert code in EXIT_CODES, f"exit code {code}"

    return run


@functools.cache
def _commands():
    """The command line, built once: that takes longer than most commands."""
    return get_command(app)


def _passes(title, call):
    before = _memory("VmRSS")
    _forget_peak()
    try:
        with _limits():
            call()
        passed, said = True, "done"
    except SmoothcertError as error:
        passed, said = False, str(error)
    except (Exception, HungError) as error:
        raise AssertionError(f"{title}: {type(error).__name__}: {str(error)[:300]}") from error
    assert 0 < len(said) < LONGEST_MESSAGE, f"{title}: an error of {len(said):,} characters"
    grown = (_memory("VmHWM") - before) / 1024
    assert grown < MEGABYTES, f"{title}: took {grown:.0f} MB"
    return passed


@contextlib.contextmanager
def _limits():
    """Interrupt what takes over five seconds, and let an allocation beyond 500 MB fail."""

    def stop(*_):
        raise HungError(f"over {SECONDS:g} seconds")

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, stop)
    used = _memory("VmSize") * 1024
    if used:  # elsewhere a process cannot tell how much it has
        resource.setrlimit(resource.RLIMIT_AS, (used + MEGABYTES * 2**20, hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


def _memory(name):
    """A line of this process's memory in kilobytes; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    return 0


def _forget_peak():
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
