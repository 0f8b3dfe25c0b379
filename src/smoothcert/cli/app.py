"""The command line: options in, calls to the package out, one sentence on a user's mistake."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from smoothcert.cli.later import group_of
from smoothcert.errors import SmoothcertError
from smoothcert.visible import visible

USER_MISTAKE = 2
_LONGEST = 1_000  # characters of a message

COMMANDS = {
    "demo": "jobs.demo:demo",
    "train": "train:train",
    "sweep": "jobs.sweep:sweep",
    "reproduce": "jobs.reproduce:reproduce",
    "import": "import_checkpoint:import_command",
    "ensemble": "ensemble:ensemble",
    "quantize": "quantize:quantize",
    "describe": "describe:describe",
    "certify": "certify:certify",
    "status": "runs.status:status",
    "merge": "runs.merge:merge",
    "predict": "predict:predict",
    "attack": "attack:attack",
    "audit": "audit:audit",
    "serve": "serve:serve",
    "analyze": "analyze:analyze",
    "compare": "compare:compare",
    "report": "report:report",
    "export": "export:export",
    "recipes": "listings:recipes",
    "datasets": "listings:datasets",
    "models": "listings:models",
    "methods": "listings:methods",
}
"""All commands, in the order of the help: file and function of each."""

app = typer.Typer(
    name="smoothcert",
    cls=group_of(COMMANDS),
    help="Certified robustness by randomized smoothing: classify noisy copies, let them vote, prove a radius.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"smoothcert {version('smoothcert')}")
        raise typer.Exit


@app.callback()
def _common(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; exit code 2 and one sentence on a user's mistake."""
    for stream in (sys.stdout, sys.stderr):
        # Names that the terminal has no characters for are no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except SmoothcertError as error:
        _refuse(str(error))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a path that the system does not take
        _refuse(f"{error.strerror or error}: {error.filename}")


def _refuse(sentence: str) -> NoReturn:
    """Print one line that can be read, whatever was quoted in it, and end."""
    line = visible(" ".join(sentence.split("\n")))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2]} .. {line[-_LONGEST // 2 :]}"
    print(f"error: {line}", file=sys.stderr)
    sys.exit(USER_MISTAKE)
