"""The look of all figures: colours, lines, legend, and how a figure becomes a file."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from smoothcert.atomic import write_atomically
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = TypeVar("Curve")

INK, FAINT, PAPER, STRONG = "#24292f", "#d8dee4", "#fffffe", "#c84b00"
# Told apart by the common colour-blind eyes, and in grey by dashes and marks; the last curve is STRONG.
COLOURS = ("#0072b2", "#009e73", "#b8559b", "#3fa2dd", "#8a6d00", "#6f7680", "#5b4bb5")
_DASHES: tuple[Any, ...] = ((0, (6, 2)), (0, (6, 2, 1.5, 2)), (0, (1.5, 1.5)), (0, (10, 2.5)),
                            (0, (3, 1.5)), (0, (10, 2, 2, 2, 2, 2)), (0, (4, 2, 1, 1, 1, 2)))  # fmt: skip
_MARKS = "os^Dv<>"
END_MARK = "|"
FORMS = {
    "png": ("Software",),
    "svg": ("Date", "Creator", "Format", "Type"),
    "pdf": ("Creator", "Producer", "CreationDate"),
}
"""Kinds of files of a figure, with what each would say about the day and the program that made it: left out."""
_RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "svg.fonttype": "none",  # text stays text: searchable, and in the page's own font
    "svg.hashsalt": "smoothcert",
    "pdf.fonttype": 42,  # whole outlines, which publishers ask for, and text that can be searched
}


def printable(text: str) -> str:
    """Return a text without line breaks and control characters, which neither SVG nor HTML can hold."""
    return "".join(c if c.isprintable() else " " for c in text)


def short(name: str, most: int = 28) -> str:
    """Return a name that fits: one line, its end kept if it is too long, never taken for a hidden label."""
    line = printable(name)
    line = line if len(line) <= most else "…" + line[1 - most :]
    return line if not line.startswith("_") else f" {line}"


@contextmanager
def style() -> Iterator[None]:
    """Draw in our style whatever the user's own settings are; leaves those as they were."""
    import matplotlib

    with matplotlib.rc_context(_RC):
        yield


def new_figure(width: float, height: float, summaries: Sequence[Summary]) -> tuple[Figure, Axes]:
    """Return a figure with an empty plot for some runs; sizes in inches, without the legend."""
    if not summaries or not all(len(summary.results) for summary in summaries):
        raise InvalidArgumentError(
            "a figure needs at least one run, each with at least one image and with what is to be drawn; "
            "logs in the field's columns hold no votes"
        )
    return empty_figure(width, height)


def empty_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure with an empty plot; sizes in inches, without the legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def add_legend(figure: Figure, axes: Axes, *, end: str | None = None) -> None:
    """Put the legend below, in as many columns as fit, and make the figure taller by its rows.

    Args:
        figure: what it belongs to.
        axes: whose curves it names.
        end: what the mark at the end of a curve means, where there is one.
    """
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    for place, handle in enumerate(handles):
        # The mark stands at the end of a curve, not of its name.
        if isinstance(handle, Line2D) and handle.get_marker() == END_MARK:
            named = Line2D([], [])
            named.update_from(handle)
            named.set_marker("")
            handles[place] = named
    if end is not None:
        handles.append(
            Line2D([], [], color=INK, linestyle="", marker=END_MARK, markersize=11, markeredgewidth=1.8)
        )
        labels.append(end)
    fitting = max(int(figure.get_figwidth() / (0.7 + 0.083 * max(map(len, labels)))), 1)
    rows = -(-len(labels) // fitting)
    columns = -(-len(labels) // rows)
    figure.set_figheight(figure.get_figheight() + 0.2 * rows)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=3.2)


def looks(curves: Sequence[Curve]) -> Iterator[tuple[Curve, dict[str, Any], str]]:
    """Yield each of some curves with its line and its mark; the last line is solid, thick and on top."""
    for number, curve in enumerate(curves[:-1]):
        k = number % len(COLOURS)
        yield (
            curve,
            {"color": COLOURS[k], "linestyle": _DASHES[k], "linewidth": 1.5, "zorder": 3},
            _MARKS[k],
        )
    yield curves[-1], {"color": STRONG, "linestyle": "-", "linewidth": 2.3, "zorder": 5}, "o"


def figure_svg(figure: Figure) -> str:
    """Return a figure as SVG text: the same text for the same data, without date, on no background."""
    return _rendered(figure, "svg", facecolor="none").decode()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure on white to a .png, .svg or .pdf file, whole or not at all; the same bytes for the same data."""
    form = path.suffix.lower().lstrip(".")
    if form not in FORMS:
        raise InvalidArgumentError(f"a figure is written as .png, .svg or .pdf, got {path.name!r}")
    write_atomically(path, _rendered(figure, form, facecolor="white"))


def _rendered(figure: Figure, form: str, *, facecolor: str) -> bytes:
    buffer = io.BytesIO()
    with style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # names may be in any script
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, so that a second rendering is the same
        figure.savefig(buffer, format=form, dpi=200, facecolor=facecolor, metadata=dict.fromkeys(FORMS[form]))
    return buffer.getvalue()
