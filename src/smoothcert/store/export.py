"""A run -> the bytes of a table, by format name."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

from smoothcert.errors import InvalidArgumentError
from smoothcert.registry import Registry
from smoothcert.store.run import Run
from smoothcert.store.tsv import format_tsv

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with
EXPORTERS: Registry[Callable[[Run], bytes]] = Registry("export format")


def export_run(run: Run, form: str) -> bytes:
    """Return a run as a table; radii rounded down in TSV, at full precision in the other formats.

    Args:
        run: what to export.
        form: a name in `EXPORTERS`.
    """
    return EXPORTERS[form](run)


@EXPORTERS.register("tsv")
def _tsv(run: Run) -> bytes:
    return format_tsv(run).encode()


@EXPORTERS.register("csv")
def _csv(run: Run) -> bytes:
    frame = run.to_frame()
    for name in frame.select_dtypes(include=["object", "string"]):
        frame[name] = frame[name].map(_inert, na_action="ignore")
    return frame.to_csv(index=False).encode()


def _inert(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula; numbers, also negative ones, stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


@EXPORTERS.register("json")
def _json(run: Run) -> bytes:
    # Not by pandas, which rounds to 15 digits, and to nearest.
    frame = run.to_frame().astype(object)
    return (json.dumps(frame.where(frame.notna(), None).to_dict("records"), indent=1) + "\n").encode()


@EXPORTERS.register("parquet")
def _parquet(run: Run) -> bytes:
    buffer = io.BytesIO()
    try:
        run.to_frame().to_parquet(buffer, index=False)
    except ImportError as error:
        raise InvalidArgumentError(
            "parquet needs pyarrow; install it with: pip install 'smoothcert[parquet]'"
        ) from error
    return buffer.getvalue()
