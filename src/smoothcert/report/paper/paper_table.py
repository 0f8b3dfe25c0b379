"""A table for a paper: cells as text, not yet in the language of any document, with unrounded records beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smoothcert.errors import InvalidArgumentError


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table. Not escaped: whoever writes a document does that.

    Args:
        text: a figure, a mark or a name; empty where there is nothing to say.
        deviation: standard deviation over seeds, as text; None without seeds.
        is_best: to be set in bold.
    """

    text: str
    deviation: str | None = None
    is_best: bool = False

    @property
    def plain(self) -> str:
        """The cell in one line of text."""
        return self.text if self.deviation is None else f"{self.text} ± {self.deviation}"


@dataclass(frozen=True)
class PaperTable:
    """Headings, rows and the lines below them; the first column is for names.

    Args:
        title: what it shows, in words.
        columns: headings.
        blocks: rows in blocks, between which a document draws a rule.
        notes: what marks and headings mean, one sentence or more each.
        records: the same unrounded, one table of values by column name for each row, for a machine to read.
        span: first column, number of columns and words of a heading above some of the headings; None for none.
    """

    title: str
    columns: tuple[str, ...]
    blocks: tuple[tuple[tuple[Cell, ...], ...], ...]
    notes: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]
    span: tuple[int, int, str] | None = None

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidArgumentError(
                    f"each row of a table must have {len(self.columns)} cells, one per heading, got {len(row)}"
                )

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """All rows, whatever block they stand in."""
        return [row for block in self.blocks for row in block]


def cells_of(texts: Sequence[str]) -> tuple[Cell, ...]:
    """Return cells without deviations."""
    return tuple(Cell(text) for text in texts)
