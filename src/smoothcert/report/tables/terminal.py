"""Tables and lines on a terminal, in which every name is text and never markup."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from smoothcert.report.tables.blocks import Table, make_table, table_lines
from smoothcert.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Table", "make_table", "print_tables", "say"]

_LEAST_WIDTH = 20  # narrower terminals break lines by themselves


def say(line: str, *, error: bool = False) -> None:
    """Print one line, at once.

    Args:
        line: what to say; what cannot be seen in it is shown as an escape.
        error: on standard error, where everything goes that is not the result.
    """
    print(visible(line), file=sys.stderr if error else sys.stdout, flush=True)


def print_tables(
    tables: Iterable[Table], small_print: Iterable[str], *, width: int, conclusion: str = ""
) -> None:
    """Print tables and the lines below them on standard output, as wide as the terminal or as COLUMNS says.

    Args:
        tables: what `make_table` made.
        small_print: lines, dimmed where there is a terminal, and broken between words where a width is known.
        width: characters per line where there is no terminal, and no COLUMNS either.
        conclusion: a sentence that stands out between the two; none by default.
    """
    from rich.text import Text

    console, is_known = _console(width)
    rule = "─" if console.encoding.startswith("utf") else "-"
    for table in tables:
        for style, line in table_lines(table, max(console.width, _LEAST_WIDTH), rule):
            console.print(Text(line, style=style), soft_wrap=True)
    told = [("bold", conclusion), ("", "")] if conclusion else []
    for style, line in (*told, *(("dim", line) for line in small_print)):
        parts = _broken(visible(line), console.width) if is_known else [visible(line)]
        for part in parts or [""]:
            console.print(Text(part, style=style), soft_wrap=True)


def _broken(line: str, width: int) -> list[str]:
    """Break a line between words; a path that is longer than a line stays whole."""
    return textwrap.wrap(line, max(width, _LEAST_WIDTH), break_long_words=False, break_on_hyphens=False)


def _console(width: int) -> tuple[Console, bool]:
    """Return where to print, and whether its width is one that somebody looks at."""
    from rich.console import Console

    terminal = Console()
    if terminal.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return terminal, True
    return Console(width=width), False
