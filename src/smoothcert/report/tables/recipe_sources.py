"""Where the recipes come from, and where they differ: one block for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smoothcert.report.tables.hanging import hanging

_FIELDS = ("source", "deviation")


def print_sources(rows: Sequence[dict[str, Any]]) -> None:
    """Print name, source and deviation of every recipe; lines fit the terminal, texts are never cut.

    Args:
        rows: what the listing of recipes returned.
    """
    count = "1 recipe" if len(rows) == 1 else f"{len(rows)} recipes"
    title = f"{count}: the tables behind the values, and what differs from them and why"
    print(hanging(title, first="", rest=""))
    indent = max(map(len, _FIELDS)) + 4
    for row in rows:
        print(f"\n{row['name']}")
        for field in _FIELDS:
            print(hanging(row[field], first=f"  {field}: ".ljust(indent), rest=" " * indent))
