"""The figure of the capacity page: speed-up over workers, one panel per network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.simulation.cells import CURVE
from benchmarks.simulation.scenarios import PROCEDURES, SCENARIOS

FIGURE = Path(__file__).parents[2] / "docs" / "capacity.svg"
_STYLES = {
    "fixed": ("#1b1f24", "o"),
    "staged": ("#c2571a", "s"),
    "sequential": ("#2563a8", "^"),
    "group": ("#3d8b37", "D"),
}


def draw(cells: Sequence[dict[str, Any]], path: Path = FIGURE) -> None:
    """Draw the curves of the images that the field certifies, one driver each; the same figure every time.

    Args:
        cells: records of `Cells`.
        path: where to, as SVG or PNG.
    """
    with rc_context({"svg.hashsalt": "capacity", "font.size": 10, "svg.fonttype": "path"}):
        figure = Figure(figsize=(9.0, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        panels = figure.subplots(1, len(SCENARIOS), sharey=True)
        for panel, scenario in zip(panels, SCENARIOS, strict=True):
            panel.plot(CURVE, CURVE, color="#8a939e", linewidth=1, linestyle="--", label="workers (ideal)")
            for name in PROCEDURES:
                curve = [
                    cell
                    for cell in cells
                    if (cell["scenario"], cell["procedure"], cell["images"], cell["shards"])
                    == (scenario.name, name, scenario.images_by(name), 1)
                ][: len(CURVE)]
                color, marker = _STYLES[name]
                workers, gained = [c["workers"] for c in curve], [c["speed_up"] for c in curve]
                panel.plot(workers, gained, color=color, marker=marker, markersize=5, label=name)
            panel.set(xscale="log", yscale="log", xlabel="workers", title=scenario.title)
            panel.set_xticks(CURVE, [f"{number:,}" for number in CURVE])
            panel.xaxis.set_minor_locator(NullLocator())
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("speed-up over one worker")
        panels[0].legend(frameon=False, loc="upper left")
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
