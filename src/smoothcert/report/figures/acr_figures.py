"""Average certified radius over something that costs: members, heads, time of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.figures.style import PAPER, add_legend, empty_figure, looks, short, style
from smoothcert.report.page.promises import norm_symbol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
_LOG_FROM = 20.0  # times as much training at the right end

Points = Sequence[tuple[float, float]]
"""What it cost, and the ACR, of each run."""


@style()
def acr_over_number_figure(series: Mapping[str, Points], *, what: str, norm: str = "l2") -> Figure:
    """Draw ACR over a whole number such as that of members: every run as a dot, a line through the means.

    Not a law between the numbers: lines join what was certified.

    Args:
        series: runs under equal settings, by the name to show; (number, ACR in pixel units) each.
        what: the number is, for the axis.
        norm: the norm of the radii, as in manifests.
    """
    from matplotlib.ticker import MaxNLocator

    figure, axes = _begun(series)
    repeated = False
    for (name, points), look, mark in looks(list(series.items())):
        numbers = np.array([number for number, _ in points])
        radii = np.array([radius for _, radius in points])
        places = np.unique(numbers)
        means = [radii[numbers == place].mean() for place in places]
        dots: dict[str, Any] = {
            "marker": mark,
            "markersize": 7,
            "markeredgecolor": PAPER,
            "markeredgewidth": 0.7,
        }
        axes.plot(places, means, label=short(name, 60), **look, **dots)
        again = np.array([(numbers == number).sum() > 1 for number in numbers])
        axes.plot(
            numbers[again], radii[again], ls="", marker="_", markersize=11, color=look["color"], alpha=0.6
        )
        repeated = repeated or bool(again.any())
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel=f"{what}; dashes: single runs" if repeated else what, ylabel=_acr_axis(norm))
    add_legend(figure, axes)
    return figure


@style()
def acr_over_time_figure(series: Mapping[str, Points], *, norm: str = "l2") -> Figure:
    """Draw ACR over training time: one mark per model or group of seeds, at the mean of both.

    Not comparable across machines: time is what the cards of the models tell, and they name none.

    Args:
        series: runs by the name to show; (seconds of training in all, ACR in pixel units) each.
        norm: the norm of the radii, as in manifests.
    """
    figure, axes = _begun(series)
    times = np.array([seconds for points in series.values() for seconds, _ in points])
    size, unit = next(one for one in _UNITS if times.max() >= 2 * one[0] or one[0] == 1.0)
    for (name, points), look, mark in looks(list(series.items())):
        table = np.array(points)
        dots: dict[str, Any] = {
            "marker": mark,
            "markersize": 8,
            "color": look["color"],
            "ls": "",
            "clip_on": False,
        }
        label = short(name) + (f"  ({len(table)} seeds)" if len(table) > 1 else "")
        axes.plot(*(table.mean(axis=0) / (size, 1)), label=label, markeredgecolor=PAPER, zorder=5, **dots)
        if len(table) > 1:
            axes.plot(table[:, 0] / size, table[:, 1], **{**dots, "marker": ".", "markersize": 5})
    if times.max() > _LOG_FROM * times.min() > 0:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, 1.08 * times.max() / size)
    axes.set(xlabel=f"training time ({unit}), all networks one after the other", ylabel=_acr_axis(norm))
    add_legend(figure, axes)
    return figure


def _begun(series: Mapping[str, Points]) -> tuple[Figure, Any]:
    if not series or not all(len(points) for points in series.values()):
        raise InvalidArgumentError("a figure of ACR needs at least one series, each with at least one run")
    return empty_figure(5.2, 3.3)


def _acr_axis(norm: str) -> str:
    return f"ACR ({norm_symbol(norm)}, pixel units)"
