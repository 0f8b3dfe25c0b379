"""From measurements to files: raw CSV, a summary in JSON, tables in Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from smoothcert.atomic import write_atomically

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


@dataclass(frozen=True)
class Part:
    """What one part of the benchmark brought.

    Args:
        rows: raw measurements, one flat record each.
        summary: medians, spreads and ratios as plain values; the part's `render` makes its table from them.
    """

    rows: list[dict[str, Any]]
    summary: dict[str, Any]


def verdict(value: float, *, least: float | None = None, most: float | None = None) -> str:
    """Return the goal and whether a measured value reaches it; no tolerance, nothing rounded first."""
    goals = []
    if least is not None:
        goals.append((f"at least {least:g}", value >= least))
    if most is not None:
        goals.append((f"at most {most:g}", value <= most))
    if not goals:
        return "no goal"
    words = " and ".join(text for text, _ in goals)
    return f"{words}: {'reached' if all(met for _, met in goals) else 'NOT reached'}"


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def shown(spread: dict[str, float], digits: int) -> str:
    """Return a stored spread as "median (low to high)"."""
    low, high = spread["low"], spread["high"]
    return f"{spread['median']:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write raw measurements as CSV; a column is there for every key that occurs."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())


def read_summary(path: Path) -> dict[str, Any]:
    """Return an earlier summary, or an empty one: parts that are not run again stay."""
    return json.loads(path.read_text()) if path.exists() else {"parts": {}}


def write_summary(path: Path, summary: dict[str, Any]) -> None:
    """Write the summary as JSON."""
    write_atomically(path, json.dumps(summary, indent=1) + "\n")


def replace_results(text: str, results: str) -> str:
    """Return a page with the part between the two markers replaced.

    Args:
        text: the page; both markers must be there once.
        results: Markdown to put between them.
    """
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{results.strip()}\n{END}{after}"
