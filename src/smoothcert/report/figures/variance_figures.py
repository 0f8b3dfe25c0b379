"""Figures of the variance theory: variance and success over k, mean radius over n, first-stage decisions over p."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothcert.certificates import Staged
from smoothcert.noise import NoiseLaw
from smoothcert.report.figures.style import COLOURS, INK, PAPER, STRONG, add_legend, save_figure, style
from smoothcert.report.page.promises import norm_symbol
from smoothcert.report.tables.variance_tables import LEVEL, RADIUS_N, RADIUS_P, STAGE_P, noise_text
from smoothcert.theory import VarianceStudy, first_stage, mean_radii, variance_ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, GREEN, PINK, _, BROWN, GREY, _ = COLOURS
_SUCCESS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999, 0.99999, 0.999999)
_LEVELS = (0.01, 0.001, 0.0001)
_LINES = {0.01: ":", 0.001: "-", 0.0001: (0, (5, 2))}


@style()
def variance_figure(study: VarianceStudy) -> Figure:
    """Draw the variance of k members over that of one, predicted and observed, for both parts of the logits."""
    figure, axes = _plot(5.8, 3.5)
    part, k = study.parts["mean"], np.array(study.sizes)
    smooth = np.linspace(1, study.members, 200)
    ratios = part.ratios
    look: dict[str, Any] = {
        "ls": "",
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.7,
        "markersize": 7,
        "zorder": 4,
        "clip_on": False,
    }
    for zeta, sign, colour, line, mark, name, seen in (
        (part.model.zeta_p, "ζp", STRONG, "-", "o", "noise", ratios.noise),
        (part.model.zeta_c, "ζc", BLUE, "--", "s", "members", ratios.clean),
    ):
        model = f"{name}: model, {sign} = {zeta:.2f}"
        by_algebra = "" if name == "noise" else " (k = K by algebra)"
        axes.plot(smooth, variance_ratio(smooth, zeta), color=colour, ls=line, lw=1.8, label=model)
        axes.plot(k, seen, mark, color=colour, label=f"{name}: observed{by_algebra}", **look)
    axes.vlines(
        k,
        ratios.noise_low,
        ratios.noise_high,
        color=STRONG,
        lw=5,
        alpha=0.3,
        label="noise: range over choices",
    )
    axes.plot(smooth, 1 / smooth, color=GREY, lw=1.2, ls=":", label="independent, 1/k")
    top = 1.05 * max(1.0, float(ratios.noise_high.max()))
    axes.set(ylim=(0, top), ylabel="variance over that of one member")
    _over_k(figure, axes, study)
    return figure


@style()
def success_figure(study: VarianceStudy) -> Figure:
    """Draw the success probability over k, mean over images: observed, Gaussian model, Chebyshev bound.

    No failure at all stands at the upper edge.
    """
    figure, axes = _plot(5.8, 3.5)
    k, part, other = study.sizes, study.parts["mean"].success, study.parts["clean"].success
    look: dict[str, Any] = {"markersize": 6, "markeredgecolor": PAPER, "markeredgewidth": 0.7}
    curves: tuple[tuple[Any, str, dict[str, Any]], ...] = (
        (part.observed, "observed", {"color": STRONG, "lw": 2.2, "marker": "o", "zorder": 5}),
        (part.gaussian, "Gaussian, mean over noise", {"color": BLUE, "ls": "--", "marker": "s"}),
        (other.gaussian, "Gaussian, f(x)", {"color": GREEN, "ls": "-.", "marker": "^"}),
        (part.chebyshev, "Chebyshev bound", {"color": GREY, "ls": ":", "marker": "v"}),
    )
    means = [values.mean(axis=0) for values, _, _ in curves]
    # Equal steps divide the failures by the same factor, so that curves near 100% stay apart.
    failures = np.concatenate([1 - mean for mean in means])
    least = max(float(failures[failures > 0].min(initial=1.0)) / 1.7, 1e-7)
    for mean, (_, name, line) in zip(means, curves, strict=True):
        axes.plot(k, -np.log10(np.maximum(1 - mean, least)), label=name, clip_on=False, **look, **line)
    most = max(float(failures.max()), 2 * least)
    ticks = [p for p in _SUCCESS if least <= 1 - p and (1 - p <= most * 1.3 or p == 0)]
    axes.set_yticks([-np.log10(1 - p) for p in ticks], [f"{100 * p:.6g}" for p in ticks])
    axes.set(
        ylim=(-np.log10(min(most * 1.15, 1.0)), -np.log10(least)),
        ylabel="leading class wins (%)\n(failures on a log axis)",
    )
    _over_k(figure, axes, study)
    return figure


@style()
def mean_radius_figure(noise: NoiseLaw, *, alpha: float = LEVEL) -> Figure:
    """Draw CERTIFY's exact mean radius over the number of votes n, one curve for each p_A.

    Args:
        noise: law that turns a bound into a radius.
        alpha: error probability, one-sided.
    """
    figure, axes = _plot(6.4, 4.1)
    votes = RADIUS_N
    grid = mean_radii(RADIUS_P, votes, alpha=alpha, noise=noise)
    for row, (p, radius) in enumerate(zip(RADIUS_P, grid, strict=True)):
        share = row / (len(RADIUS_P) - 1)
        colour = tuple((1 - share) * a + share * b for a, b in zip(_rgb(BLUE), _rgb(STRONG), strict=True))
        axes.plot(votes, radius, color=colour, lw=1.8)
        if p < 1:  # what no number of votes exceeds
            axes.plot([votes[-1]], [noise.radius(p)], marker="_", ms=11, mew=1.6, color=colour, clip_on=False)
        axes.annotate(
            f"{p:g}",
            (votes[-1], radius[-1]),
            xytext=(11, 0),
            textcoords="offset points",
            va="center",
            color=INK,
        )
    axes.annotate(
        "p_A", (1, 1), xycoords="axes fraction", xytext=(11, 4), textcoords="offset points", weight="bold"
    )
    axes.set(xscale="log", xlim=(100, 1_000_000), ylim=(0, 1.08 * float(grid.max())))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.minorticks_off()
    axes.set_xlabel(f"votes n (log axis); {noise_text(noise)}, alpha {alpha:g}; dashes: limit of many votes")
    axes.set_ylabel(f"mean certified radius ({norm_symbol(noise.norm)}, pixel units)")
    return figure


@style()
def first_stage_figure(noise: NoiseLaw, *, radius: float | None = None) -> Figure:
    """Draw the exact chances that CERTIFYADP's first stage certifies, gives up or goes on, over p_A.

    Args:
        noise: law of the noise.
        radius: the radius to prove, in pixel units; one sigma by default.
    """
    figure, axes = _plot(6.4, 3.6)
    target = noise.std if radius is None else radius
    p, p0 = STAGE_P, float(noise.threshold(target))
    for level in _LEVELS:
        stage = first_stage(p, Staged(radius=target, beta=level), alpha=level, noise=noise)
        curves = (
            (stage.abstain, BLUE, "gives up"),
            (stage.go_on, GREY, "goes on"),
            (stage.certify, STRONG, "certifies"),
        )
        for chance, colour, name in curves:
            main = level == LEVEL
            axes.plot(
                p,
                100 * chance,
                color=colour,
                ls=_LINES[level],
                lw=2.2 if main else 1.2,
                label=name if main else None,
            )
    for level in (0.01, 0.0001):
        axes.plot([], color=INK, ls=_LINES[level], lw=1.2, label=f"alpha = beta = {level:g}")
    axes.axvline(p0, color=INK, lw=0.9)
    axes.annotate(
        f"needed: {p0:.3f}",
        (p0, 100),
        xytext=(-4, 5),
        textcoords="offset points",
        ha="right",
        annotation_clip=False,
    )
    axes.set(xlim=(0.4, 1), ylim=(0, 102), ylabel="chance in the first 100 votes (%)")
    axes.set_xlabel(f"p_A; radius {target:g}, {noise_text(noise)}; bold: alpha = beta = 0.001")
    add_legend(figure, axes)
    return figure


def write_variance_figures(study: VarianceStudy, folder: str | Path) -> list[Path]:
    """Write the four figures as PNG files and return their paths.

    Args:
        study: what to draw; its noise law decides the last two.
        folder: where to write; made if missing.
    """
    figures = {
        "variance_over_k": variance_figure(study),
        "success_over_k": success_figure(study),
        "mean_radius": mean_radius_figure(study.noise),
        "first_stage": first_stage_figure(study.noise),
    }
    paths = []
    for name, figure in figures.items():
        paths.append(Path(folder) / f"{name}.png")
        save_figure(figure, paths[-1])
    return paths


def _plot(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _over_k(figure: Figure, axes: Axes, study: VarianceStudy) -> None:
    """Finish a plot whose axis is the number of members."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    margin = 0.04 * (study.members - 1)
    axes.set(xlim=(1 - margin, study.members + margin))
    axes.set_xlabel(f"members k (soft voting, equal weights); {noise_text(study.noise)}")
    add_legend(figure, axes)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue
