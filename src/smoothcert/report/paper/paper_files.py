"""Tables and figures for a paper, written to files in one call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothcert.atomic import check_target, write_atomically
from smoothcert.report.paper.groups import group_runs
from smoothcert.report.paper.latex import latex_tables
from smoothcert.report.paper.paper_table import PaperTable
from smoothcert.report.paper.run_table import run_table
from smoothcert.report.paper.text_tables import csv_table, markdown_tables
from smoothcert.report.summary import Summary

if TYPE_CHECKING:
    from smoothcert.report.paper.model_folders import ModelFolder
    from smoothcert.theory import LogProbabilityGaps

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
        models: folders of the runs' models; by default where the runs say they were.
        paths: of runs by their names, where these are shortened.
        costs: the table of what models cost, from `model_table`, to stand below that of runs; None for none.
        bold: set the best figures in bold.
        gaps: log-probability gaps of one image by the names of runs, for their figure.
    """

    figures: Path | None = None
    latex: Path | None = None
    markdown: Path | None = None
    csv: Path | None = None
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    each_run: bool = False
    envelopes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    models: Sequence[str | Path] = ()
    paths: Mapping[str, Path] | None = None
    costs: PaperTable | None = None
    bold: bool = False
    gaps: Mapping[str, LogProbabilityGaps] = field(default_factory=dict)


def write_paper(
    summaries: Sequence[Summary],
    order: PaperOrder,
    radii: NDArray[np.float64] | None = None,
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> None:
    """Write what was ordered, and tell one line about every file and every figure that there are no data for.

    Tables are made, and folders of models read, before the first file is written.

    Args:
        summaries: of runs and logs, at least one.
        order: what to write.
        radii: where tables read certified accuracy, as `named_radii` gives them; some that suit all by default.
        tell: called with each line, once its file is there.
    """
    tables_of_costs = (beside(order.csv),) if order.csv is not None and order.costs is not None else ()
    for path in (order.latex, order.markdown, order.csv, *tables_of_costs):
        if path is not None and path != STANDARD_OUTPUT:
            check_target(path)
    groups = group_runs(summaries, order.groups, by_name=not order.each_run, paths=order.paths)
    tables = [run_table(groups, envelopes=order.envelopes, radii=radii, bold=order.bold)]
    if order.costs is not None:
        tables.append(order.costs)
    folders: dict[str, ModelFolder] = {}
    if order.figures is not None:
        from smoothcert.report.paper.model_folders import find_folders

        folders = find_folders(order.models, summaries)
    for path, write in ((order.latex, latex_tables), (order.markdown, markdown_tables)):
        if path is not None:
            _write(path, write(tables), tell)
    if order.csv is not None:
        for place, table in zip((order.csv, beside(order.csv)), tables, strict=False):
            _write(place, csv_table(table), tell)
    if order.figures is not None:
        from smoothcert.report.paper.paper_figures import write_paper_figures

        drawn = write_paper_figures(
            groups, order.figures, folders, gaps=order.gaps, on_file=lambda path: tell(f"wrote {path}")
        )
        for name, reason in drawn.left_out.items():
            tell(f"no figure {name}: {reason}")


def model_table(summaries: Sequence[Summary], models: Sequence[str | Path]) -> PaperTable:
    """Return the table of what models cost.

    Args:
        summaries: runs, among which those of the models are found.
        models: folders; those where the runs say that their models were are added.
    """
    from smoothcert.report.paper.cost_table import cost_table
    from smoothcert.report.paper.costs import model_costs

    return cost_table(model_costs(models, summaries))


def beside(path: Path) -> Path:
    """Return where the table of costs stands beside that of runs, which has other columns."""
    return path if path == STANDARD_OUTPUT else path.with_name(f"{path.stem}-costs{path.suffix}")


def _write(path: Path, text: str, tell: Callable[[str], None]) -> None:
    """Write a text to a file, and tell so, or to standard output."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    write_atomically(path, text)
    tell(f"wrote {path}")
