"""Tables and figures for a paper, written to files in one call."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.atomic import check_target, write_atomically
from smoothcert.report.paper.groups import group_runs
from smoothcert.report.paper.latex import latex_tables
from smoothcert.report.paper.paper_table import PaperTable
from smoothcert.report.paper.run_table import run_table
from smoothcert.report.paper.text_tables import csv_table, markdown_tables
from smoothcert.report.summary import Summary

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True)
class PaperOrder:
    """What is to be written for a paper, and how runs are put together in it.

    Args:
        figures: folder for figures as PDF, SVG and PNG; None for none.
        latex: file for the tables in LaTeX; `-` is standard output, as for the others.
        markdown: file for the tables in Markdown.
        csv: file for the table of runs, unrounded; that of costs stands beside it, NAME-costs.csv.
        groups: names of runs by the name of their group; others are grouped by their names.
        each_run: a row for every run that is in no named group.
        envelopes: names of members by the name of their envelope.
        models: folders of the runs' models.
        costs: the table of what models cost, from `model_table`, to stand below that of runs; None for none.
        bold: set the best figures in bold.
    """

    figures: Path | None = None
    latex: Path | None = None
    markdown: Path | None = None
    csv: Path | None = None
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    each_run: bool = False
    envelopes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    models: Sequence[str | Path] = ()
    costs: PaperTable | None = None
    bold: bool = False


def write_paper(
    summaries: Sequence[Summary], order: PaperOrder, radii: NDArray[np.float64] | None = None
) -> Iterator[str]:
    """Write what was ordered; yield one line about every file, and about every figure that there are no data for.

    Everything is checked and every table made before the first file is written.

    Args:
        summaries: of runs and logs, at least one.
        order: what to write.
        radii: where tables read certified accuracy, as `named_radii` gives them; some that suit all by default.
    """
    for path in (order.latex, order.markdown, order.csv):
        if path is not None and path != STANDARD_OUTPUT:
            check_target(path)
    groups = group_runs(summaries, order.groups, by_name=not order.each_run)
    tables = [run_table(groups, envelopes=order.envelopes, radii=radii, bold=order.bold)]
    if order.costs is not None:
        tables.append(order.costs)
    texts = {order.latex: latex_tables, order.markdown: markdown_tables}
    for path, write in texts.items():
        if path is not None:
            yield from _write(path, write(tables))
    if order.csv is not None:
        for place, table in zip((order.csv, beside(order.csv)), tables, strict=False):
            yield from _write(place, csv_table(table))
    if order.figures is not None:
        from smoothcert.report.paper.model_folders import read_folders
        from smoothcert.report.paper.paper_figures import write_paper_figures

        drawn = write_paper_figures(groups, order.figures, read_folders(order.models))
        yield from (f"wrote {path}" for path in drawn.written)
        yield from (f"no figure {name}: {reason}" for name, reason in drawn.left_out.items())


def model_table(summaries: Sequence[Summary], models: Sequence[str | Path]) -> PaperTable:
    """Return the table of what models cost.

    Args:
        summaries: runs, among which those of the models are found.
        models: folders, at least one.
    """
    from smoothcert.report.paper.cost_table import cost_table
    from smoothcert.report.paper.costs import model_costs

    return cost_table(model_costs(models, summaries))


def beside(path: Path) -> Path:
    """Return where the table of costs stands beside that of runs, which has other columns."""
    return path if path == STANDARD_OUTPUT else path.with_name(f"{path.stem}-costs{path.suffix}")


def _write(path: Path, text: str) -> Iterator[str]:
    """Write a text to a file or to standard output; yield what is to be said of it."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    write_atomically(path, text)
    yield f"wrote {path}"
