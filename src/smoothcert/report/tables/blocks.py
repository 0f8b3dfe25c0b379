"""A table as lines no wider than a terminal: in blocks of columns, names whole, no figure ever cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from smoothcert.visible import visible

_GAPS = (2, 1)  # between columns: the wide one where all columns have room
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
        apart: heading from which on columns are of another kind; where the table is broken, there if possible.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    apart: str | None = None


def make_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], apart: str | None = None
) -> Table:
    """Return a table whose first column is for names and whose others are for figures; what cannot be seen escaped.

    Args:
        title: stands above it.
        columns: headings.
        rows: cells, as text.
        apart: heading from which on columns are of another kind.
    """
    return Table(
        visible(title),
        tuple(visible(heading) for heading in columns),
        tuple(tuple(visible(cell) for cell in row) for row in rows),
        apart,
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
    rows = [(*row, *("",) * (len(table.columns) - len(row))) for row in table.rows]
    widths = [max(map(_length, column)) for column in zip(table.columns, *rows, strict=True)]
    total = {gap: sum(widths) + gap * (len(widths) - 1) for gap in _GAPS}
    gap = next((gap for gap in _GAPS if total[gap] <= width), _GAPS[-1])
    beside = widths[0] <= max(_NARROWEST, width // _NAME_SHARE) or total[gap] <= width
    first = widths[0] if beside else _INDENT - gap
    columns = [gap + one for one in widths[1:]]
    apart = table.columns.index(table.apart) - 1 if table.apart in table.columns else None
    for line in textwrap.wrap(table.title, width, break_long_words=False):
        yield "italic", line
    for block in _blocks(columns, width - first, apart):
        yield "", ""
        yield from _named(table.columns, "bold", beside, first, columns, block)
        yield "", rule * (first + sum(columns[place] for place in block))
        for row in rows:
            if any(row[1 + place] for place in block):
                yield from _named(row, "", beside, first, columns, block)
    yield "", ""


def _blocks(columns: Sequence[int], room: int, apart: int | None) -> list[list[int]]:
    """Return the columns of each block: as few blocks as there can be, broken where columns belong apart if possible.

    Args:
        columns: their widths.
        room: characters of a line beside the names.
        apart: the first column of what belongs together.
    """
    fewest = _filled(columns, room, None)
    grouped = _filled(columns, room, apart)
    return grouped if 1 < len(fewest) == len(grouped) else fewest


def _filled(columns: Sequence[int], room: int, apart: int | None) -> list[list[int]]:
    """Fill one block after the other, each with as many columns as have room, at least one."""
    blocks: list[list[int]] = [[]]
    used = 0
    for place, width in enumerate(columns):
        if blocks[-1] and (used + width > room or place == apart):
            blocks.append([])
            used = 0
        blocks[-1].append(place)
        used += width
    return blocks


def _named(
    cells: Sequence[str], style: str, beside: bool, first: int, columns: Sequence[int], block: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Yield a row: its name and the figures of a block beside it, or below it."""
    if cells[0] and not beside:
        yield style, cells[0]
    name = cells[0] if beside else ""
    figures = (" " * (columns[place] - _length(cells[1 + place])) + cells[1 + place] for place in block)
    yield style, (name + " " * (first - _length(name)) + "".join(figures)).rstrip()


def _length(text: str) -> int:
    """Return how many characters of a terminal a text takes."""
    from rich.cells import cell_len

    return cell_len(text)
