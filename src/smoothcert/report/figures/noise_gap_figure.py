"""The histogram of the papers: log-probability gaps of one image over noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.figures.style import COLOURS, INK, STRONG, add_legend, empty_figure, short, style
from smoothcert.theory import LogProbabilityGaps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 60


@style()
def noise_gap_figure(gaps: Mapping[str, LogProbabilityGaps]) -> Figure:
    """Draw how many noisy copies (%) of one image have which log-probability gap, one outline per network.

    Left of the dashed line a copy is misclassified; the legend says how many are. Not made of a run's votes.

    Args:
        gaps: by the name to show, all of one image.
    """
    if not gaps or len({found.index for found in gaps.values()}) > 1:
        raise InvalidArgumentError(
            f"gaps must be of one image, got those of {sorted({found.index for found in gaps.values()})}"
        )
    figure, axes = empty_figure(5.2, 3.3)
    values = np.concatenate([found.gaps for found in gaps.values()])
    edges = np.linspace(min(float(values.min()), 0.0), max(float(values.max()), 1e-9), _BINS + 1)
    for number, (name, found) in enumerate(gaps.items()):
        is_last = number == len(gaps) - 1
        colour = STRONG if is_last else COLOURS[number % len(COLOURS)]
        shares = 100 * np.histogram(found.gaps, edges)[0] / len(found.gaps)
        label = f"{short(name)}  ({100 * found.misclassified:.1f}% misclassified)"
        axes.stairs(shares, edges, color=colour, linewidth=2.0 if is_last else 1.4, label=label)
        if is_last:  # shades of several would blur into one
            axes.stairs(shares, edges, color=colour, fill=True, alpha=0.12)
    axes.axvline(0, color=INK, lw=0.9, ls=(0, (4, 2)))
    image = next(iter(gaps.values())).index
    axes.set(xlabel=f"log-probability gap of image {image} under noise", ylabel="noisy copies (%)")
    add_legend(figure, axes)
    return figure
