"""Figures of summaries: certified accuracy over radius, distribution of p_A, votes spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from smoothcert.certificates import Results
from smoothcert.report.figures.accuracy_curve import AccuracyCurve, accuracy_curve, end_text, kept_steps
from smoothcert.report.figures.style import (
    END_MARK,
    INK,
    PAPER,
    add_legend,
    empty_figure,
    looks,
    new_figure,
    short,
    style,
)
from smoothcert.report.page.promises import radius_axis
from smoothcert.report.summary import CONFIDENCE, Summary
from smoothcert.report.tables.attack_table import attack_radii, check_same_images
from smoothcert.rounding import floor_digits
from smoothcert.store import AttackResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BANDS = 3  # with more curves than this only the last keeps its band
_STRETCH = 1.3  # of the axis, to show where a curve ends
_SHARES = (0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


@style()
def certified_accuracy_figure(
    summaries: Sequence[Summary],
    *,
    norm: str = "l2",
    attack: AttackResults | None = None,
    published: Mapping[str, Mapping[float, float]] | None = None,
) -> Figure:
    """Draw certified accuracy (%) over radius, exactly as the stored radii give it; the last curve strongest.

    Not smoothed or interpolated: between two radii the curve has its value at the larger one, which is what
    is proven there. Marks show the radii of a run that asked about a few, and where a curve ends because nothing
    beyond could be proven, or is known. Bands are Clopper-Pearson intervals over images, point by point; with more
    than three curves only the last has one.

    Args:
        summaries: the curves, in the order of the legend.
        norm: the norm of the radii, as in manifests.
        attack: on the images of the last run, to draw what it left standing above what is certified.
        published: what others found for some of the curves, by the curve's name: shares by radius, drawn as rings.
    """
    figure, axes = new_figure(8.6, 3.9, summaries)
    told = published or {}
    curves = [accuracy_curve(summary) for summary in summaries]
    for number, (curve, (_, look, mark)) in enumerate(zip(curves, looks(summaries), strict=True), start=1):
        _draw_curve(axes, curve, look, mark)
        if found := told.get(curve.summary.name):
            _draw_rings(axes, found, look["color"])
        last = number == len(summaries)
        if len(summaries) <= _BANDS or last:
            _draw_band(axes, curve, color=look["color"], alpha=0.18 if last else 0.08)
    largest = max(summary.largest_radius for summary in summaries)
    # Where a curve ends is shown, unless the curve would shrink for it.
    ends = [float(curve.radii[-1]) for curve in curves if curve.ends]
    largest = max([largest, *(end for end in ends if not largest or end <= _STRETCH * largest)])
    if attack is not None:
        check_same_images(attack, summaries[-1])
        largest = max(largest, _draw_attack(axes, attack, summaries[-1].results))
    if any(told.values()):
        _draw_rings(axes, {-1.0: 0.0}, INK, label="published")
    what = "certified accuracy (%)" if attack is None else "accuracy (%)"
    axes.set(xlim=(0, largest * 1.03 or 1), ylim=(0, 102), ylabel=what)
    axes.set_xlabel(radius_axis(norm))
    add_legend(figure, axes, end=end_text(curves))
    return figure


def _draw_curve(axes: Axes, curve: AccuracyCurve, look: dict[str, Any], mark: str) -> None:
    """Draw one curve with marks at the radii that were asked, and one where it ends."""
    unfinished = ", unfinished" if curve.summary.missing else ""
    name = f"{short(curve.summary.name)}{unfinished}  (ACR {floor_digits(curve.summary.results.average_radius(), 3)})"
    end: dict[str, Any] = {}
    if curve.ends:
        end = {
            "marker": END_MARK,
            "markevery": [len(curve.radii) - 1],
            "markersize": 11,
            "markeredgewidth": 1.8,
        }
    if len(curve.asked):
        marks: dict[str, Any] = {
            "marker": mark,
            "markersize": 6,
            "markeredgecolor": PAPER,
            "markeredgewidth": 0.7,
        }
        shares = 100 * curve.summary.results.certified_accuracy(curve.asked)
        axes.plot(curve.asked, shares, color=look["color"], ls="", zorder=6, **marks)
        axes.plot([], label=name, **look, **marks)
    label = "" if len(curve.asked) else name
    axes.plot(curve.radii, 100 * curve.shares, drawstyle="steps-pre", label=label, **look, **end)


def _draw_rings(axes: Axes, shares: Mapping[float, float], color: str, label: str = "") -> None:
    """Draw what others found at some radii."""
    heights = [100 * share for share in shares.values()]
    ring: dict[str, Any] = {
        "marker": "o",
        "markersize": 6.5,
        "markeredgewidth": 1.4,
        "markerfacecolor": "none",
    }
    axes.plot([*shares], heights, color=color, linestyle="", zorder=7, label=label, **ring)


def _draw_band(axes: Axes, curve: AccuracyCurve, *, color: str, alpha: float) -> None:
    """Draw the interval over images around a curve, in no more steps than can be seen."""
    thin = curve.radii[kept_steps(curve.shares)]
    low, high = curve.summary.results.certified_accuracy_interval(thin, CONFIDENCE)
    axes.fill_between(thin, 100 * low, 100 * high, step="pre", color=color, alpha=alpha, linewidth=0)


@style()
def attack_figure(attack: AttackResults) -> Figure:
    """Draw what an attack left standing (%) over radius, where there are no certificates to hold it against."""
    figure, axes = empty_figure(8.6, 3.9)
    end = _draw_attack(axes, attack, None)
    axes.set(xlim=(0, end * 1.03 or 1), ylim=(0, 102), ylabel="accuracy (%)", xlabel=radius_axis("l2"))
    add_legend(figure, axes)
    return figure


@style()
def p_hat_figure(summaries: Sequence[Summary]) -> Figure:
    """Draw the empirical distribution of p_A, the leading class's share of an image's votes; probit axis.

    Not a bound: p_A here is the observed share, and an image that stopped early had few votes to show it. The
    axis opens up near 1, where radii are decided; images whose votes all agreed stand at its right end.

    Args:
        summaries: the curves; logs without votes are left out.
    """
    known = [summary for summary in summaries if summary.p_hat is not None]
    figure, axes = new_figure(5.2, 3.3, known)
    inside = np.concatenate([_some(s.p_hat)[_some(s.p_hat) < 1] for s in known] or [np.array([])])
    low, high = np.min(inside, initial=0.5), np.max(inside, initial=0.99)
    left, right = float(ndtri(max(low, 1e-6))) - 0.1, float(ndtri(high)) + 0.45
    for summary, look, _ in looks(known):
        shares = np.sort(_some(summary.p_hat))
        places = np.where(shares < 1, ndtri(np.clip(shares, 1e-6, 1 - 1e-16)), right)
        height = 100 * np.arange(len(places) + 1) / len(places)
        axes.plot(np.append(left, places), height, drawstyle="steps-post", label=short(summary.name), **look)
    ticks = [p for p in _SHARES if left < ndtri(p) < right - 0.3]
    axes.set_xticks([*ndtri(ticks), right], [*(f"{p:g}" for p in ticks), "1"])
    axes.set(xlim=(left, right + 0.1), ylim=(0, 102), ylabel="images with at most that share (%)")
    axes.set_xlabel("share of votes for the leading class, p_A (probit axis)")
    add_legend(figure, axes)
    return figure


@style()
def votes_figure(summaries: Sequence[Summary]) -> Figure:
    """Draw the share of images (%) that needed more than v votes, over v on a logarithmic axis.

    Votes only, not time: an ensemble of k spends k forward passes on each.

    Args:
        summaries: the curves; logs without votes are left out.
    """
    from matplotlib.ticker import LogLocator

    known = [summary for summary in summaries if summary.samples is not None]
    figure, axes = new_figure(5.2, 3.3, known)
    least, most = 10**9, 1
    for summary, look, _ in looks(known):
        votes = np.sort(_some(np.asarray(summary.samples)))
        least, most = min(least, int(votes[0])), max(most, int(votes[-1]))
        height = 100 * (1 - np.arange(len(votes) + 1) / len(votes))
        name = f"{short(summary.name)}  (mean {np.ceil(votes.mean()):,.0f})"
        axes.plot(np.append(1, votes), height, drawstyle="steps-post", label=name, **look)
    axes.set_xscale("log")
    axes.set(xlim=(max(min(least / 2, most / 30), 1), most * 1.25), ylim=(0, 102))
    axes.set(xlabel="votes (log axis)", ylabel="images that needed more (%)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if most < 300 * least else (1,)))
    axes.minorticks_off()
    add_legend(figure, axes)
    return figure


def _some(values: Any) -> NDArray[Any]:
    """Return what is above 0: an image on which the model failed has neither votes nor shares of them."""
    known = np.asarray(values)
    return known[known > 0]


def _draw_attack(axes: Axes, attack: AttackResults, results: Results | None) -> float:
    """Draw accuracy under attack, mark where all were attacked, shade the gap down; return where it ends."""
    asked = attack_radii(attack)
    end = float(asked[-1])
    radii = np.unique([0.0, *attack.broken_at[attack.broken_at <= end], end])
    look: dict[str, Any] = {"color": INK, "linestyle": (0, (2, 1)), "linewidth": 1.5, "zorder": 4}
    marks: dict[str, Any] = {"marker": "v", "markersize": 6, "markeredgecolor": PAPER, "markeredgewidth": 0.7}
    name = f"under {attack.settings['method']} at the marked radii, at most"
    axes.plot(radii, 100 * attack.accuracy(radii), drawstyle="steps-post", **look)
    axes.plot(asked, 100 * attack.accuracy(asked), color=INK, ls="", zorder=7, **marks)
    axes.plot([], label=name, **look, **marks)
    if results is None:
        return end
    places = np.unique([*radii, *results.radius[results.radius <= end]])
    # Both are steps: the one is read to the left of its radii, the other to the right of its breaks.
    low = np.repeat(100 * results.certified_accuracy(places[1:]), 2)
    high = np.repeat(100 * attack.accuracy(places[:-1]), 2)
    axes.fill_between(
        np.repeat(places, 2)[1:-1],
        low,
        high,
        color=INK,
        alpha=0.06,
        linewidth=0,
        label="gap: the truth lies in it",
    )
    return end
