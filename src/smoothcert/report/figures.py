"""Figures of runs: certified accuracy over radius, distribution of p_A, votes spent, a few images."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from smoothcert.atomic import write_atomically
from smoothcert.certificates import Results
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.summary import CONFIDENCE, Summary
from smoothcert.store import Run, floor_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, PAPER, STRONG = "#24292f", "#d8dee4", "#fffffe", "#c84b00"
# Told apart by the common colour-blind eyes, and in grey by dashes and marks; the last curve is STRONG.
COLOURS = ("#0072b2", "#009e73", "#b8559b", "#3fa2dd", "#8a6d00", "#6f7680", "#5b4bb5")
NORMS = {"l1": "ℓ₁", "l2": "ℓ₂", "linf": "ℓ∞"}
_DASHES: tuple[Any, ...] = ((0, (6, 2)), (0, (6, 2, 1.5, 2)), (0, (1.5, 1.5)), (0, (10, 2.5)),
                            (0, (3, 1.5)), (0, (10, 2, 2, 2, 2, 2)), (0, (4, 2, 1, 1, 1, 2)))  # fmt: skip
_MARKS = "os^Dv<>"
_BANDS = 3  # with more curves than this only the last keeps its band
_BAND_STEPS = 400  # steps that a screen can show
_GRID = 20  # more distinct radii than this are no grid
_SHARES = (0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
_CELL = 1.07  # inches per image
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
}


def printable(text: str) -> str:
    """Return a text without line breaks and control characters, which neither SVG nor HTML can hold."""
    return "".join(c if c.isprintable() else " " for c in text)


@contextmanager
def _style() -> Iterator[None]:
    """Draw in our style whatever the user's own settings are; leaves those as they were."""
    import matplotlib

    with matplotlib.rc_context(_RC):
        yield


@_style()
def certified_accuracy_figure(summaries: Sequence[Summary], *, norm: str = "l2") -> Figure:
    """Draw certified accuracy (%) over radius, exactly as the stored radii give it; the last curve strongest.

    Not smoothed or interpolated: between two radii the curve has its value at the larger one, which is what
    is proven there. Marks show the radii of a run that proved only a few. Bands are Clopper-Pearson
    intervals over images, point by point; with more than three curves only the last has one.

    Args:
        summaries: the curves, in the order of the legend.
        norm: the norm of the radii, as in manifests.
    """
    figure, axes = _new_figure(8.6, 3.9, summaries)
    for number, (summary, look, mark) in enumerate(_looks(summaries), start=1):
        radii, share = accuracy_steps(summary.results)
        places = np.flatnonzero(np.isin(radii, grid_radii(summary.results))).tolist()
        name = f"{_short(summary.name)}  (ACR {floor_digits(summary.results.average_radius(), 3)})"
        if not places:  # nothing is certified beyond the largest radius
            x, y = np.append(radii, radii[-1]), np.append(share, 0.0)
        else:
            x, y = radii, share
            marks: dict[str, Any] = {
                "marker": mark,
                "markersize": 6,
                "markeredgecolor": PAPER,
                "markeredgewidth": 0.7,
            }
            axes.plot(radii[places], 100 * share[places], color=look["color"], ls="", zorder=6, **marks)
            axes.plot([], label=name, **look, **marks)
        axes.plot(x, 100 * y, drawstyle="steps-pre", label="" if places else name, **look)
        last = number == len(summaries)
        if len(summaries) <= _BANDS or last:
            thin = radii[np.unique(np.linspace(0, len(radii) - 1, _BAND_STEPS).astype(int))]
            low, high = summary.results.certified_accuracy_interval(thin, CONFIDENCE)
            band = {"color": look["color"], "alpha": 0.18 if last else 0.08, "linewidth": 0}
            axes.fill_between(thin, 100 * low, 100 * high, step="pre", **band)
    largest = max(summary.largest_radius for summary in summaries)
    axes.set(xlim=(0, largest * 1.03 or 1), ylim=(0, 102), ylabel="certified accuracy (%)")
    axes.set_xlabel(f"radius ({NORMS.get(norm, norm)}, pixel units of [0, 1] images)")
    _legend(figure, axes)
    return figure


@_style()
def p_hat_figure(summaries: Sequence[Summary]) -> Figure:
    """Draw the empirical distribution of p_A, the leading class's share of an image's votes; probit axis.

    Not a bound: p_A here is the observed share, and an image that stopped early had few votes to show it. The
    axis opens up near 1, where radii are decided; images whose votes all agreed stand at its right end.

    Args:
        summaries: the curves; logs without votes are left out.
    """
    known = [summary for summary in summaries if summary.p_hat is not None]
    figure, axes = _new_figure(5.2, 3.3, known)
    inside = np.concatenate([np.asarray(s.p_hat)[np.asarray(s.p_hat) < 1] for s in known] or [np.array([])])
    low, high = np.min(inside, initial=0.5), np.max(inside, initial=0.99)
    left, right = float(ndtri(max(low, 1e-6))) - 0.1, float(ndtri(high)) + 0.45
    for summary, look, _ in _looks(known):
        shares = np.sort(np.asarray(summary.p_hat))
        places = np.where(shares < 1, ndtri(np.clip(shares, 1e-6, 1 - 1e-16)), right)
        height = 100 * np.arange(len(places) + 1) / len(places)
        axes.plot(np.append(left, places), height, drawstyle="steps-post", label=_short(summary.name), **look)
    ticks = [p for p in _SHARES if left < ndtri(p) < right - 0.3]
    axes.set_xticks([*ndtri(ticks), right], [*(f"{p:g}" for p in ticks), "1"])
    axes.set(xlim=(left, right + 0.1), ylim=(0, 102), ylabel="images with at most that share (%)")
    axes.set_xlabel("share of votes for the leading class, p_A (probit axis)")
    _legend(figure, axes)
    return figure


@_style()
def votes_figure(summaries: Sequence[Summary]) -> Figure:
    """Draw the share of images (%) that needed more than v votes, over v on a logarithmic axis.

    Votes only, not time: an ensemble of k spends k forward passes on each.

    Args:
        summaries: the curves; logs without votes are left out.
    """
    from matplotlib.ticker import LogLocator

    known = [summary for summary in summaries if summary.samples is not None]
    figure, axes = _new_figure(5.2, 3.3, known)
    least, most = 10**9, 1
    for summary, look, _ in _looks(known):
        votes = np.sort(np.asarray(summary.samples))
        least, most = min(least, int(votes[0])), max(most, int(votes[-1]))
        height = 100 * (1 - np.arange(len(votes) + 1) / len(votes))
        name = f"{_short(summary.name)}  (mean {np.ceil(votes.mean()):,.0f})"
        axes.plot(np.append(1, votes), height, drawstyle="steps-post", label=name, **look)
    axes.set_xscale("log")
    axes.set(xlim=(max(min(least / 2, most / 30), 1), most * 1.25), ylim=(0, 102))
    axes.set(xlabel="votes (log axis)", ylabel="images that needed more (%)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if most < 300 * least else (1,)))
    axes.minorticks_off()
    _legend(figure, axes)
    return figure


@_style()
def images_figure(run: Run, dataset: Dataset, count: int = 16) -> Figure:
    """Draw a few images of a run: the easiest, the hardest certified, abstained ones and wrong ones.

    Not a sample of the run: the ends of it, most extreme first. Radii are rounded down.

    Args:
        run: whose certificates to show.
        dataset: where its images come from; another data set is refused.
        count: most images to draw.
    """
    from matplotlib.figure import Figure

    if dataset.digest != run.manifest["dataset"]["digest"]:
        raise InvalidArgumentError(
            f"the run is about {run.manifest['dataset']['name']}, not about the given {dataset.name} "
            f"({dataset.split}): their digests differ; give the data set that was certified"
        )
    rows = extremes(run, count)
    columns = max(count // 2, 1)
    figure = Figure(figsize=(_CELL * (columns + 0.25), 1.75 * len(rows)), layout="constrained")
    outer = figure.add_gridspec(len(rows), 1)
    for number, groups in enumerate(rows):
        gap = len(next(iter(groups.values())))
        ratios = [*[1.0] * gap, 0.25, *[1.0] * (columns - gap)]
        cells = outer[number].subgridspec(1, columns + 1, width_ratios=ratios)
        for first, (title, places) in zip((0, gap + 1), groups.items(), strict=False):
            for column, place in enumerate(places, start=first):
                axes = figure.add_subplot(cells[column])
                _draw_image(axes, run, dataset, place)
                if column == first:
                    axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold")
    return figure


def figure_svg(figure: Figure) -> str:
    """Return a figure as SVG text: the same text for the same data, without date, on no background."""
    return _rendered(figure, "svg", facecolor="none").decode()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure on white to a .png or .svg file, whole or not at all."""
    form = path.suffix.lower().lstrip(".")
    if form not in ("png", "svg"):
        raise InvalidArgumentError(f"a figure is written as .png or .svg, got {path.name!r}")
    write_atomically(path, _rendered(figure, form, facecolor="white"))


def accuracy_steps(results: Results) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return radii r_0 = 0 < r_1 < .. and certified accuracy there, which holds on all of (r_(i-1), r_i]."""
    sorted_radii = np.sort(results.radius[results.correct])
    radii = np.unique(np.append(sorted_radii, 0.0))
    reached = len(sorted_radii) - np.searchsorted(sorted_radii, radii, side="left")
    return radii, reached / max(len(results), 1)


def grid_radii(results: Results) -> NDArray[np.float64]:
    """Return the few radii that all certificates share; none if the radii are spread out."""
    radii = results.radius[results.predicted >= 0]
    different = np.unique(radii)
    return different if len(different) <= min(_GRID, len(radii) / 3) else different[:0]


def extremes(run: Run, count: int) -> list[dict[str, list[int]]]:
    """Return two rows of positions in the run, by heading; room a group cannot fill goes to its neighbour."""
    results, votes, half = run.results, np.asarray(run.column("samples")), max(count // 2, 1)
    order = np.lexsort((results.index, votes, -results.radius)).tolist()  # largest radius, then fewest votes
    correct, abstained = results.correct, results.predicted < 0
    easy = [i for i in order if correct[i]]
    unsure = [i for i in np.argsort(run.p_hat, kind="stable").tolist() if abstained[i]]
    wrong = [i for i in order if not correct[i] and not abstained[i]]
    top = _share({"easiest": easy, "abstained": unsure}, half)
    hard = [i for i in reversed(easy) if i not in top.get("easiest", [])]
    return [row for row in (top, _share({"hardest": hard, "wrong class": wrong}, half)) if row]


def _share(groups: dict[str, list[int]], places: int) -> dict[str, list[int]]:
    """Give two groups half of the places each, more where the other needs less; leave out empty ones."""
    (first, ours), (second, theirs) = groups.items()
    left = min(len(ours), max(places - places // 2, places - len(theirs)))
    shared = {first: ours[:left], second: theirs[: places - left]}
    return {title: chosen for title, chosen in shared.items() if chosen}


def _draw_image(axes: Axes, run: Run, dataset: Dataset, place: int) -> None:
    results = run.results
    pixels = dataset.image(int(results.index[place])).numpy()
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3):
        pixels = np.moveaxis(pixels, 0, 2) if pixels.shape[0] == 3 else pixels[0]
    elif pixels.ndim != 2:  # a vector: one row of grey cells
        pixels = pixels.reshape(1, -1)
    axes.imshow(np.clip(pixels, 0, 1), cmap="gray", vmin=0, vmax=1, interpolation="none")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    names = [_short(name, 12) for name in dataset.class_names]
    lines = [f"label {names[results.label[place]]}"]
    if results.predicted[place] < 0:
        lines += ["abstained", f"{run.column('samples')[place]:,} votes"]
    else:
        said = int(results.predicted[place])
        lines += [f"certified {names[said] if said < len(names) else said}"]
        lines += [f"radius {floor_digits(results.radius[place], 3)}"]
    axes.set_xlabel("\n".join(lines), fontsize=8.5)


def _new_figure(width: float, height: float, summaries: Sequence[Summary]) -> tuple[Figure, Axes]:
    """Return a figure with an empty plot; sizes in inches, without the legend."""
    from matplotlib.figure import Figure

    if not summaries or not all(len(summary.results) for summary in summaries):
        raise InvalidArgumentError(
            "a figure needs at least one run, each with at least one image and with what is to be drawn; "
            "logs in the field's columns hold no votes"
        )
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _legend(figure: Figure, axes: Axes) -> None:
    """Put the legend below, in as many columns as fit, and make the figure taller by its rows."""
    handles, labels = axes.get_legend_handles_labels()
    fitting = max(int(figure.get_figwidth() / (0.7 + 0.083 * max(map(len, labels)))), 1)
    rows = -(-len(labels) // fitting)
    columns = -(-len(labels) // rows)
    figure.set_figheight(figure.get_figheight() + 0.2 * rows)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=3.2)


def _looks(summaries: Sequence[Summary]) -> Iterator[tuple[Summary, dict[str, Any], str]]:
    """Yield each summary with its line and its mark; the last line is solid, thick and on top."""
    for number, summary in enumerate(summaries[:-1]):
        k = number % len(COLOURS)
        yield (
            summary,
            {"color": COLOURS[k], "linestyle": _DASHES[k], "linewidth": 1.5, "zorder": 3},
            _MARKS[k],
        )
    yield summaries[-1], {"color": STRONG, "linestyle": "-", "linewidth": 2.3, "zorder": 5}, "o"


def _short(name: str, most: int = 28) -> str:
    """Return a name that fits: one line, its end kept if it is too long, never taken for a hidden label."""
    line = printable(name)
    line = line if len(line) <= most else "…" + line[1 - most :]
    return line if not line.startswith("_") else f" {line}"


def _rendered(figure: Figure, form: str, *, facecolor: str) -> bytes:
    unnamed = ("Date", "Creator", "Format", "Type") if form == "svg" else ("Software",)
    buffer = io.BytesIO()
    with _style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # names may be in any script
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, so that a second rendering is the same
        figure.savefig(buffer, format=form, dpi=200, facecolor=facecolor, metadata=dict.fromkeys(unnamed))
    return buffer.getvalue()
