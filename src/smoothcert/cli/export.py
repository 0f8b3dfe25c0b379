"""`smoothcert export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from smoothcert import report, store
from smoothcert.amounts import amount
from smoothcert.atomic import check_target
from smoothcert.cli.options import path_argument, path_option
from smoothcert.errors import InvalidArgumentError


def export(
    run: Annotated[Path, path_argument("RUN", "Run folder.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"{', '.join(store.EXPORTERS)}; by the file's ending, or tsv, by default."
        ),
    ] = None,
    output: Annotated[
        Path | None, path_option("-o", "--output", text="File to write; standard output by default.")
    ] = None,
    norm: Annotated[
        str | None,
        typer.Option("--norm", help="Radii in l1, l2 or linf instead of the noise's own norm; linf is weak."),
    ] = None,
) -> None:
    """Write the certificates of a run as a table.

    TSV has the field's columns (idx label predict radius correct time) with radii rounded down; the other
    formats have full precision. Beside a TSV file stands FILE.reach.json, by which analyze tells radii that these
    votes could not prove, or that were not asked about, from those at which all images failed.

    Example:

      smoothcert export runs/ensemble --format tsv -o ensemble.tsv
    """
    if output is not None:
        _check_output(output)
    form = _format_of(output) if form is None else form
    opened = store.Run.open(run)
    if not opened.is_complete:
        _warn(run, opened)
    turned = opened if norm is None else opened.in_norm(norm)
    if output is None:
        sys.stdout.buffer.write(store.export_run(turned, form))
    else:
        store.write_export(turned, form, output)


def _warn(folder: Path, run: store.Run) -> None:
    """Say which images are not there, or have no answer."""
    if run.missing:
        report.say(
            f"warning: {folder} is unfinished, {amount(run.missing, 'image')} missing; hard images end last",
            error=True,
        )
    if run.failures:
        report.say(report.failed_text(str(folder), run.failures, len(run)), error=True)


def _check_output(output: Path) -> None:
    """Refuse a place for the table before the run is read."""
    if output.is_dir():
        raise InvalidArgumentError(
            f"cannot write {output}: it is a folder; name a file in it, such as {output / 'run.tsv'}"
        )
    if not output.parent.is_dir():
        raise InvalidArgumentError(f"there is no folder {output.parent}; make it first")
    check_target(output)


def _format_of(output: Path | None) -> str:
    """Return the format that a file's ending says; TSV where it has none."""
    ending = "" if output is None else output.suffix.lstrip(".").lower()
    if ending and ending not in store.EXPORTERS:
        raise InvalidArgumentError(
            f"the ending of {output} is none of {', '.join(store.EXPORTERS)}; use one of them, or say --format"
        )
    return ending or "tsv"
