"""`smoothcert export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from smoothcert.atomic import write_atomically
from smoothcert.errors import InvalidArgumentError
from smoothcert.store import EXPORTERS, Run, export_run


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(EXPORTERS)}; by the file's ending, or tsv, by default."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; standard output by default.")
    ] = None,
    norm: Annotated[
        str | None,
        typer.Option("--norm", help="Radii in l1, l2 or linf instead of the noise's own norm; linf is weak."),
    ] = None,
) -> None:
    """Write the certificates of a run as a table.

    TSV has the field's columns (idx label predict radius correct time) with radii rounded down; the other
    formats have full precision.

    Example:

      smoothcert export runs/ensemble --format tsv -o ensemble.tsv
    """
    if form is None:
        ending = "" if output is None else output.suffix.lstrip(".").lower()
        form = ending if ending in EXPORTERS else "tsv"
    opened = Run.open(run)
    if not opened.is_complete:
        left = len(opened.manifest["indices"]) - len(opened)
        print(
            f"warning: {run} is unfinished, {left} images are missing; hard images end last", file=sys.stderr
        )
    content = export_run(opened if norm is None else opened.in_norm(norm), form)
    if output is None:
        sys.stdout.buffer.write(content)
    elif not output.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {output.parent}; make it first")
    else:
        write_atomically(output, content)
