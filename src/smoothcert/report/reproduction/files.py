"""A reproduction on a terminal and in files: Markdown, comma-separated values and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from smoothcert.atomic import write_atomically
from smoothcert.errors import InvalidArgumentError
from smoothcert.reading import read_text
from smoothcert.report.figures.style import save_figure
from smoothcert.report.paper.paper_table import PaperTable
from smoothcert.report.paper.text_tables import csv_table, markdown_tables, markdown_text
from smoothcert.report.reproduction.reproduction import Reproduction
from smoothcert.report.reproduction.reproduction_figure import reproduction_figure
from smoothcert.report.reproduction.reproduction_tables import reproduction_tables
from smoothcert.report.tables.blocks import Table, make_table
from smoothcert.report.tables.terminal import print_tables, say

_JSON = "table.json"


def write_reproduction(found: Reproduction, out: Path) -> None:
    """Write table.md, table.csv, table.json, and the curves of each part as PART.svg.

    Args:
        found: what was made again.
        out: folder to write to.
    """
    tables = reproduction_tables(found)
    lines = "".join(f"{markdown_text(line)}\n\n" for line in (*found.lines, *found.deviations))
    write_atomically(out / "table.md", lines + markdown_tables(tables))
    joined = replace(tables[0], records=tuple(record for table in tables for record in table.records))
    write_atomically(out / "table.csv", csv_table(joined))
    write_atomically(out / _JSON, json.dumps(found.to_json(), indent=2) + "\n")
    for part in found.parts:
        figure = reproduction_figure(part)
        if figure is not None:
            save_figure(figure, out / f"{part.name}.svg")


def rows_written(out: Path, budget: str) -> set[str]:
    """Return the rows, as PART/ROW, of the table that a folder has; none where it has none of that budget.

    Args:
        out: folder that `write_reproduction` wrote to.
        budget: of the table.
    """
    path = out / _JSON
    if not path.exists():
        return set()
    try:
        told = json.loads(read_text(path, InvalidArgumentError))
        rows = {f"{part['name']}/{row['name']}" for part in told["parts"] for row in part["rows"]}
        return rows if told["budget"] == budget else set()
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidArgumentError(
            f"{path} is not the table that was written there; remove it, and the table is made again"
        ) from error


def print_reproduction(found: Reproduction) -> None:
    """Print what was reproduced, what was scaled down and what came out; then a table per part."""
    for line in found.lines:
        say(line)
    say("")
    tables = reproduction_tables(found)
    for place, table in enumerate(tables, start=1):
        last = place == len(tables)
        notes = [*table.notes, *found.deviations] if last else list(table.notes)
        print_tables([_shown(table)], notes, width=200)
        if not last:
            say("")


def _shown(table: PaperTable) -> Table:
    return make_table(table.title, table.columns, [[cell.plain for cell in row] for row in table.rows])
