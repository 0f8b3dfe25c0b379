"""Certified accuracy over radius as means over seeds, with a band from the lowest seed to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothcert.report.figures.accuracy_curve import AccuracyCurve, accuracy_curve, end_text
from smoothcert.report.figures.style import END_MARK, PAPER, add_legend, looks, new_figure, short, style
from smoothcert.report.page.promises import radius_axis
from smoothcert.report.paper.seed_group import SeedGroup
from smoothcert.rounding import floor_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def group_accuracy_figure(groups: Sequence[SeedGroup], *, norm: str = "l2") -> Figure:
    """Draw certified accuracy (%) over radius, the mean of each group of seeds; the last curve strongest.

    Not smoothed: at every radius the mean of what each seed proves there. Bands go from the lowest seed to the highest,
    point by point, and single runs have none: intervals over images would look alike and mean something else.

    Args:
        groups: the curves, in the order of the legend.
        norm: the norm of the radii, as in manifests.
    """
    figure, axes = new_figure(8.6, 3.9, [one for group in groups for one in group.members])
    curves = [_mean_curve(group) for group in groups]
    for (group, curve), look, mark in looks(list(zip(groups, curves, strict=True))):
        seeds = f", {group.seeds} seeds" if group.seeds > 1 else ""
        name = f"{short(group.name)}  (ACR {floor_digits(float(group.acrs.mean()), 3)}{seeds})"
        end: dict[str, Any] = {"marker": END_MARK, "markersize": 11, "markeredgewidth": 1.8}
        look |= {**end, "markevery": [len(curve.radii) - 1]} if curve.ends else {}
        axes.plot(curve.radii, 100 * curve.shares, drawstyle="steps-pre", label=name, **look)
        if len(curve.asked):
            dot: dict[str, Any] = {"marker": mark, "markersize": 6, "markeredgecolor": PAPER, "zorder": 6}
            shares = 100 * group.certified_accuracy(curve.asked)
            axes.plot(curve.asked, shares, ls="", color=look["color"], **dot)
        if group.seeds > 1:
            each = 100 * group.shares(curve.radii)
            band: dict[str, Any] = {"color": look["color"], "alpha": 0.2, "linewidth": 0, "step": "pre"}
            axes.fill_between(curve.radii, each.min(axis=0), each.max(axis=0), **band)
    largest = max(one.largest_radius for group in groups for one in group.members)
    axes.set(xlim=(0, largest * 1.03 or 1), ylim=(0, 102), xlabel=radius_axis(norm))
    several = any(group.seeds > 1 for group in groups)
    axes.set_ylabel("certified accuracy (%)" + ("\nband: lowest to highest seed" if several else ""))
    add_legend(figure, axes, end=end_text(curves))
    return figure


def _mean_curve(group: SeedGroup) -> AccuracyCurve:
    """Return the curve of the mean, which ends where the curves of its runs do."""
    each = [accuracy_curve(one) for one in group.members]
    longest = max(each, key=lambda curve: float(curve.radii[-1]))
    radii = np.unique(np.concatenate([curve.radii for curve in each]))
    return AccuracyCurve(
        longest.summary, radii, group.certified_accuracy(radii), longest.asked, ends=longest.ends
    )
