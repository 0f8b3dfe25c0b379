"""Tables in Markdown and as comma-separated values."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from smoothcert.report.paper.paper_table import Cell, PaperTable
from smoothcert.store import inert_cell
from smoothcert.visible import visible

_MARKUP = re.compile(r"([\\`*_\[\]|<>&~$]|^[-+#](?=[ #]|$)|(?<=^[0-9])[.)](?=\s))")


def markdown_text(text: str) -> str:
    """Return any text as Markdown that shows it as it is."""
    return _MARKUP.sub(r"\\\1", visible(text))


def markdown_tables(tables: Sequence[PaperTable]) -> str:
    """Return tables in pipes, with a heading above each and what is to be said below it."""
    return "\n".join(_markdown(table) for table in tables)


def csv_table(table: PaperTable) -> str:
    """Return the records of a table, unrounded, one line each; names that look like formulas get an apostrophe.

    Where nothing is known the field is empty.
    """
    names = list(dict.fromkeys(name for record in table.records for name in record))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for record in table.records:
        writer.writerow([_value(record, name) for name in names])
    return text.getvalue()


def _markdown(table: PaperTable) -> str:
    heads = [markdown_text(heading) for heading in table.columns]
    lines = [f"**{markdown_text(table.title)}**", "", _pipes(heads)]
    lines.append(_pipes(["---", *["---:"] * (len(heads) - 1)]))
    lines += [_pipes([_cell(cell) for cell in row]) for row in table.rows]
    for note in table.notes:
        lines += ["", markdown_text(note)]
    return "".join(f"{line}\n" for line in lines)


def _cell(cell: Cell) -> str:
    # A figure holds nothing that Markdown could take for markup; a name may.
    text = cell.text if _is_figure(cell.text) else markdown_text(cell.text)
    text = f"**{text}**" if cell.is_best else text
    return text if cell.deviation is None else f"{text} ± {cell.deviation}"


def _is_figure(text: str) -> bool:
    return re.fullmatch(r"≥?[0-9][0-9.,]*", text) is not None


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _value(record: Mapping[str, Any], name: str) -> Any:
    """Return a field: text that is one line and no formula, numbers as Python writes them back."""
    value = record.get(name)
    if value is None:
        return ""
    return inert_cell(visible(value)) if isinstance(value, str) else repr(value)
