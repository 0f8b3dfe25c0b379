"""`smoothcert export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothcert.store import EXPORTERS, Run, export_run


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    form: Annotated[
        str, typer.Option("--format", help=f"{', '.join(EXPORTERS)}; parquet needs the parquet extra.")
    ] = "tsv",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; standard output by default.")
    ] = None,
) -> None:
    """Write the certificates of a run as a table.

    TSV has the field's columns (idx label predict radius correct time) with radii rounded down; the other
    formats have full precision.

    Example:

      smoothcert export runs/ensemble --format tsv -o ensemble.tsv
    """
    content = export_run(Run.open(run), form)
    if output is not None:
        from smoothcert.atomic import write_atomically

        write_atomically(output, content)
    else:
        import sys

        sys.stdout.buffer.write(content)
