"""The command line: options in, calls to the package out, one sentence on a user's mistake."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from smoothcert.cli.analyze import analyze
from smoothcert.cli.attack import attack
from smoothcert.cli.audit import audit
from smoothcert.cli.certify import certify
from smoothcert.cli.demo import demo
from smoothcert.cli.ensemble import ensemble
from smoothcert.cli.export import export
from smoothcert.cli.listings import datasets, methods, models, recipes
from smoothcert.cli.members import EXITS, FEW_VOTES, NOISE, PROCEDURE, ROWS, OptionGroup, command_with
from smoothcert.cli.predict import predict
from smoothcert.cli.sweep import sweep
from smoothcert.cli.train import train
from smoothcert.errors import SmoothcertError
from smoothcert.visible import visible

USER_MISTAKE = 2
_LONGEST = 1_000  # characters of a message

app = typer.Typer(
    name="smoothcert",
    help="Certified robustness by randomized smoothing: classify noisy copies, let them vote, prove a radius.",
    no_args_is_help=True,
    add_completion=False,
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


_COMMANDS: dict[Callable[..., None], tuple[OptionGroup, ...]] = {
    demo: (),
    train: (ROWS,),
    sweep: (ROWS, FEW_VOTES),
    ensemble: (EXITS,),
    certify: (NOISE, PROCEDURE),
    predict: (NOISE,),
    attack: (NOISE,),
    audit: (),
    analyze: (),
    export: (),
    recipes: (),
    datasets: (),
    models: (),
    methods: (),
}
"""All commands, in the order of the help, with the groups of options that come from members."""

for command, groups in _COMMANDS.items():
    app.command(cls=command_with(*groups))(command)


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
