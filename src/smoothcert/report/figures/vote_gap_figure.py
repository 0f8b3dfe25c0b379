"""The gap between votes of a run's images: how much more often the label won them than its strongest rival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.figures.style import COLOURS, INK, STRONG, short, style
from smoothcert.report.paper.seed_group import SeedGroup
from smoothcert.store import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 28
_HALF = 0.5  # votes added to either count
_ABREAST = 3  # panels


def vote_gaps(run: Run) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return log p_y - max log p_c of each image, y the label and c the other classes; and whether no c had a vote.

    From the votes of the phase in which an image ended; where the label leads, it is log p_A - log p_B. Half a vote is
    added to both counts, so that a class without votes has a finite gap, one that grows with the number of votes as
    what they prove does; where both have many votes it changes nothing that could be seen.

    Args:
        run: any run.
    """
    own, rival = np.zeros(len(run)), np.zeros(len(run))
    for place, (counts, label) in enumerate(zip(run.final_counts, run.results.label.tolist(), strict=True)):
        is_label = np.arange(len(counts.votes)) == label
        own[place] = counts.votes[is_label].sum()
        rival[place] = counts.votes[~is_label].max(initial=0)
    return np.log(own + _HALF) - np.log(rival + _HALF), rival == 0


@style()
def vote_gap_figure(groups: Sequence[SeedGroup]) -> Figure:
    """Draw histograms of gaps between votes (natural logarithm) over images, one panel per group; in percent.

    Not the gap over noise at one image, which needs the network's probabilities: here an image is one value, made of
    its votes, and images of all seeds stand together. Left of the dashed line another class had more votes than the
    label. Images whose rivals had no vote are lighter: their gap is only what so many votes can show.

    Args:
        groups: whose runs hold votes; those of logs do not, and are refused.
    """
    from matplotlib.figure import Figure

    runs = [[one.run for one in group.members if one.run is not None and len(one.run)] for group in groups]
    if not runs or not all(runs):
        raise InvalidArgumentError(
            "a figure of gaps between votes needs runs with votes; logs in the field's columns hold none"
        )
    gaps = [[np.concatenate(part) for part in zip(*map(vote_gaps, each), strict=True)] for each in runs]
    edges = _edges(np.concatenate([values for values, _ in gaps]))
    abreast = min(len(groups), _ABREAST)
    rows = -(-len(groups) // abreast)
    figure = Figure(figsize=(max(2.75 * abreast, 4.4), 1.55 * rows + 0.75), layout="constrained")
    panels = figure.subplots(rows, abreast, sharex=True, sharey=True, squeeze=False).flatten()
    for number, (group, (values, is_alone)) in enumerate(zip(groups, gaps, strict=True)):
        axes, colour = panels[number], STRONG if number == len(groups) - 1 else COLOURS[number % len(COLOURS)]
        parts, share = [values[~is_alone], values[is_alone]], 100 / len(values)
        weights = [np.full(len(part), share) for part in parts]
        names = ["a rival had votes", "no rival had a vote"]
        _, _, (dark, light) = axes.hist(
            parts, edges, weights=weights, stacked=True, color=colour, label=names
        )
        for bars, alpha in ((dark, 0.85), (light, 0.4)):
            for bar in bars:
                bar.set_alpha(alpha)
        axes.axvline(0, color=INK, lw=0.9, ls=(0, (4, 2)))
        axes.set_title(short(group.name), fontsize="medium", loc="left")
        axes.xaxis.set_tick_params(labelbottom=number + abreast >= len(groups))
    for axes in panels[len(groups) :]:
        axes.set_axis_off()
    figure.supxlabel(
        "log p(label) - log p(strongest rival), half a vote added to each;\nlight: no rival had a vote",
        fontsize="medium",
    )
    figure.supylabel("images (%)", fontsize="medium")
    return figure


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return borders of equal bins around all values, one of them 0: no bar holds images of both sides."""
    low, high = min(float(values.min()), -1.0), max(float(values.max()), 1.0)
    width = (high - low) / _BINS
    return np.arange(np.floor(low / width), np.floor(high / width) + 2) * width
