"""Tables and lines on a terminal, in which every name is text and never markup."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from smoothcert.visible import visible

if TYPE_CHECKING:
    from rich.table import Table


def say(line: str, *, error: bool = False) -> None:
    """Print one line, at once.

    Args:
        line: what to say; what cannot be seen in it is shown as an escape.
        error: on standard error, where everything goes that is not the result.
    """
    print(visible(line), file=sys.stderr if error else sys.stdout, flush=True)


def make_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table whose first column is for names and whose others are for figures.

    Args:
        title: stands above it.
        columns: headings; the first column is to the left, the others to the right.
        rows: cells, as text.
    """
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=escape(visible(title)),  # a string, which rich sets in italics
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for number, heading in enumerate(columns):
        table.add_column(Text(visible(heading)), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


def print_tables(tables: Iterable[Table], small_print: Iterable[str], *, width: int) -> None:
    """Print tables and the lines below them on standard output.

    Args:
        tables: what `make_table` made.
        small_print: lines, dimmed where there is a terminal.
        width: characters per line where there is none.
    """
    from rich.console import Console

    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=width)
    for table in tables:
        console.print(table)
    for line in small_print:
        console.print(visible(line), style="dim", highlight=False, markup=False, soft_wrap=True)
