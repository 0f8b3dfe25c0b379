"""A run -> the bytes of a table, by format name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from smoothcert.atomic import check_target, write_atomically
from smoothcert.errors import InvalidArgumentError
from smoothcert.registry import Table
from smoothcert.store.log_reach import reach_file, reach_text
from smoothcert.store.run import Run
from smoothcert.store.tsv import format_tsv

_ROWS = 1_000  # of a table that are objects at a time
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with


@dataclass(frozen=True)
class ExportFormat:
    """A way to write a run as a table.

    Args:
        content: from a run to the bytes of the file.
        has_reach: whether a file beside it (FILE.reach.json) says how far the table can reach, for want of a column.
    """

    content: Callable[[Run], bytes]
    has_reach: bool = False


EXPORTERS: Table[ExportFormat] = Table("export format")


def export_run(run: Run, form: str) -> bytes:
    """Return a run as a table; radii rounded down in TSV, at full precision in the other formats.

    Args:
        run: what to export.
        form: a name in `EXPORTERS`.
    """
    return EXPORTERS[form].content(run)


def write_export(run: Run, form: str, path: Path) -> None:
    """Write a run as a table to a file, and beside a TSV log how far it can reach (FILE.reach.json).

    The field's columns have no place for that, and without it nobody can tell a radius at which all images failed
    from one that these votes could not prove, or that was not asked about.

    Args:
        run: what to export.
        form: a name in `EXPORTERS`.
        path: the file, replaced if it is there.
    """
    content, has_reach = export_run(run, form), EXPORTERS[form].has_reach
    if has_reach:
        check_target(reach_file(path))
    write_atomically(path, content)
    if has_reach:
        write_atomically(reach_file(path), reach_text(run.reach, content))


def _tsv(run: Run) -> bytes:
    return format_tsv(run).encode()


def _csv(run: Run) -> bytes:
    frame = run.to_frame()
    for name in frame.select_dtypes(include=["object", "string"]):
        frame[name] = frame[name].map(inert_cell, na_action="ignore")
    return frame.to_csv(index=False).encode()


def inert_cell(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula; numbers, also negative ones, stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _json(run: Run) -> bytes:
    # Not by pandas, which rounds to 15 digits, and to nearest; and not all rows at once as objects, which take ten
    # times the room of the file.
    frame = run.to_frame()
    buffer = io.BytesIO(b"[")
    buffer.seek(1)
    for start in range(0, len(frame), _ROWS):
        part = frame.iloc[start : start + _ROWS].astype(object)
        rows = json.dumps(part.where(part.notna(), None).to_dict("records"), indent=1)[1:-2]
        buffer.write(f"{',' if start else ''}{rows}".encode())
    buffer.write(b"\n]\n" if len(frame) else b"]\n")
    return buffer.getvalue()


def _parquet(run: Run) -> bytes:
    buffer = io.BytesIO()
    try:
        run.to_frame().to_parquet(buffer, index=False)
    except ImportError as error:
        raise InvalidArgumentError(
            "parquet needs pyarrow; install it with: pip install 'smoothcert[parquet]'"
        ) from error
    return buffer.getvalue()


EXPORTERS.register("tsv")(ExportFormat(_tsv, has_reach=True))
EXPORTERS.register("csv")(ExportFormat(_csv))
EXPORTERS.register("json")(ExportFormat(_json))
EXPORTERS.register("parquet")(ExportFormat(_parquet))
