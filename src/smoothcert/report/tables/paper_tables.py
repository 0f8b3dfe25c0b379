"""Tables for papers on a terminal."""

from __future__ import annotations

from smoothcert.report.paper.paper_table import PaperTable
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.terminal import print_tables


def print_paper_table(table: PaperTable) -> None:
    """Print a table and what is to be said of it."""
    rows = [[cell.plain for cell in row] for row in table.rows]
    print_tables([make_table(table.title, table.columns, rows)], table.notes, width=160)
