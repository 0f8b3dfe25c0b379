"""Tables and figures for a paper: options of `smoothcert report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from smoothcert import report, theory
from smoothcert.cli.options.paths import folder_option, path_option
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

_PANEL = "For papers"


@dataclass(frozen=True)
class PaperFiles:
    """Which tables and figures to write for a paper, and how runs are put together in them."""

    figures: Annotated[
        Path | None,
        folder_option(
            "--figures", text="Folder for every figure there are data for, as PDF, SVG, PNG.", panel=_PANEL
        ),
    ] = None
    latex: Annotated[
        Path | None,
        path_option("--latex", text="Tables in LaTeX (booktabs); - is standard output.", panel=_PANEL),
    ] = None
    markdown: Annotated[
        Path | None, path_option("--markdown", text="Tables in Markdown; - is standard output.", panel=_PANEL)
    ] = None
    csv: Annotated[
        Path | None,
        path_option("--csv", text="Every run and mean, unrounded; - is standard output.", panel=_PANEL),
    ] = None
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME=PATH,..",
            help="Runs that differ in seeds alone, as one row: mean and standard deviation. Names that differ in a "
            "trailing seed (a-seed0, a-seed1) are grouped anyway. One path gives a run another name. Again for more.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    each_run: Annotated[
        bool, typer.Option("--each-run", help="Group none by their names.", rich_help_panel=_PANEL)
    ] = False
    envelope: Annotated[
        list[str] | None,
        typer.Option(
            "--envelope",
            metavar="NAME=PATH,..",
            help="Add upper envelope and average of these members, as for logs; those of runs are found by themselves.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            help="Print what the models cost: parameters, multiply-adds, memory, training, votes per second; also into "
            "the files of tables. Folders are those of --model, or where the runs say they were.",
            rich_help_panel=_PANEL,
        ),
    ] = False
    bold: Annotated[
        bool, typer.Option("--bold", help="Best figure of each column in bold.", rich_help_panel=_PANEL)
    ] = False

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be written or printed."""
        return self.costs or any((self.figures, self.latex, self.markdown, self.csv))

    @property
    def outputs(self) -> list[Path]:
        """The files and the folder that are written."""
        tables = [path for path in (self.latex, self.markdown, self.csv) if path not in (None, Path("-"))]
        if self.costs and self.csv in tables:
            tables.append(report.costs_beside(self.csv))
        return [path for path in (*tables, self.figures) if path is not None]

    def write(
        self,
        summaries: Sequence[report.Summary],
        *,
        models: Sequence[Path] = (),
        paths: Mapping[str, Path] | None = None,
        radii: NDArray[np.float64] | None = None,
        gaps: Mapping[str, theory.LogProbabilityGaps] | None = None,
    ) -> None:
        """Write what was asked for, and tell every file; tables of cost are printed too.

        Args:
            summaries: of the runs and logs.
            models: folders of their models, beside those where the runs say they were.
            paths: of the summaries by their names, where these are not the paths themselves.
            radii: where tables read certified accuracy; some that suit all by default.
            gaps: of one image by the names of summaries, for a figure.
        """
        self._refuse()
        if not self.is_asked:
            return
        costs = self._costs(summaries, models)
        order = report.PaperOrder(
            figures=self.figures,
            latex=self.latex,
            markdown=self.markdown,
            csv=self.csv,
            groups=_named("--group", self.group, paths or {}),
            each_run=self.each_run,
            envelopes=_named("--envelope", self.envelope, paths or {}),
            models=models,
            paths=paths,
            costs=costs,
            bold=self.bold,
            gaps=gaps or {},
        )
        report.write_paper(summaries, order, radii, tell=lambda line: report.say(line, error=True))
        if costs is not None and Path("-") not in (self.latex, self.markdown, self.csv):
            report.print_paper_table(costs)

    def _costs(self, summaries: Sequence[report.Summary], models: Sequence[Path]) -> report.PaperTable | None:
        """Return the table of costs; None with a line where no model is at hand, which ends nothing else."""
        if not self.costs:
            return None
        try:
            return report.model_table(summaries, models)
        except InvalidArgumentError as error:
            if models or not any((self.figures, self.latex, self.markdown, self.csv)):
                raise
            report.say(f"no table of costs: {error}", error=True)
            return None

    def _refuse(self) -> None:
        """Refuse what is told about tables and figures where none is asked for."""
        tables = any((self.latex, self.markdown, self.csv))
        told = {
            "--group": (self.group, tables or self.figures),
            "--each-run": (self.each_run, tables or self.figures),
            "--envelope": (self.envelope, tables),
            "--bold": (self.bold, self.latex or self.markdown),
        }
        for name, (given, used) in told.items():
            if given and not used:
                raise InvalidArgumentError(
                    f"{name} changes tables for papers, and none is asked for; add --latex, --markdown or --csv, or "
                    f"leave {name} out"
                )


def _named(option: str, texts: Sequence[str] | None, paths: Mapping[str, Path]) -> dict[str, list[str]]:
    """Read names, each with paths or names of runs: NAME=PATH,PATH; return them with the names of the runs."""
    names = {str(path): name for name, path in paths.items()}
    read: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, listed = text.partition("=")
        parts = [part.strip() for part in listed.split(",")]
        if not equals or not name.strip() or not all(parts):
            raise InvalidArgumentError(
                f"{option} must be NAME=PATH,PATH,.. as in mine=runs/a,runs/b, got {brief(text)}"
            )
        if name.strip() in read:
            raise InvalidArgumentError(f"{option} names {brief(name.strip())} twice; choose another name")
        # As paths are shown: without what changes nothing, such as a trailing slash.
        given = [part if part in paths else str(Path(part)) for part in parts]
        read[name.strip()] = [names.get(part, part) for part in given]
    return read
