"""A table as lines no wider than a terminal: in blocks of columns, names whole, no figure ever cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from smoothcert.visible import visible

_GAP = 1  # between columns
_INDENT = 2  # of figures below a name
_NARROWEST = 16  # names up to here stand beside their figures on any terminal
_NAME_SHARE = 4  # else up to a quarter of the line


@dataclass(frozen=True)
class Table:
    """Cells as text, the first column for names. Not laid out yet: that needs a width.

    Args:
        title: stands above it.
        columns: headings; the first column is to the left, the others to the right.
        rows: cells; a row without a name belongs to the one above it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def make_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table whose first column is for names and whose others are for figures; what cannot be seen escaped.

    Args:
        title: stands above it.
        columns: headings.
        rows: cells, as text.
    """
    return Table(
        visible(title),
        tuple(visible(heading) for heading in columns),
        tuple(tuple(visible(cell) for cell in row) for row in rows),
    )


def table_lines(table: Table, width: int, rule: str = "─") -> Iterator[tuple[str, str]]:
    """Yield lines with the style of each: one block of columns below the other where one is too wide.

    Long names stand on lines of their own above their figures. A name or a column wider than the terminal stays
    whole.

    Args:
        table: what to lay out.
        width: characters per line.
        rule: drawn below headings.
    """
    widths = [max(map(_length, column)) for column in zip(table.columns, *_filled(table), strict=True)]
    beside = widths[0] <= max(_NARROWEST, width // _NAME_SHARE) or sum(widths) + len(widths) * _GAP <= width
    first = widths[0] if beside else _INDENT - _GAP
    yield "italic", table.title
    for places in _blocks(widths, width - first):
        total = first + sum(_GAP + widths[place] for place in places)
        yield "", ""
        if not beside and table.columns[0]:
            yield "bold", table.columns[0]
        yield "bold", _line(table.columns[0] if beside else "", first, table.columns, widths, places)
        yield "", rule * total
        for row in _filled(table):
            if not beside and row[0]:
                yield "", row[0]
            yield "", _line(row[0] if beside else "", first, row, widths, places)
    yield "", ""


def _filled(table: Table) -> list[tuple[str, ...]]:
    """Return the rows, each with as many cells as there are columns."""
    return [(*row, *("",) * (len(table.columns) - len(row))) for row in table.rows]


def _blocks(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield the columns of each block: as many as have room beside the names, at least one."""
    block: list[int] = []
    used = 0
    for place in range(1, len(widths)):
        if block and used + _GAP + widths[place] > room:
            yield block
            block, used = [], 0
        block.append(place)
        used += _GAP + widths[place]
    yield block


def _line(name: str, first: int, cells: Sequence[str], widths: Sequence[int], places: Sequence[int]) -> str:
    figures = (" " * (_GAP + widths[place] - _length(cells[place])) + cells[place] for place in places)
    return (name + " " * (first - _length(name)) + "".join(figures)).rstrip()


def _length(text: str) -> int:
    """Return how many characters of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)
