"""The curves of a table that was made again, with what was published as rings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smoothcert.report.figures.curves import certified_accuracy_figure
from smoothcert.report.reproduction.reproduction import ReproducedPart

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reproduction_figure(part: ReproducedPart) -> Figure | None:
    """Draw certified accuracy over radius of all rows that have more than one radius; None where no row has.

    Rings are the figures of released certificates of the same images, or else the printed ones, which may be of others.

    Args:
        part: rows of one noise.
    """
    rows = [row for row in part.rows if not row.is_envelope and len(row.summary.asked or (0, 0)) > 1]
    if not rows:
        return None
    told = {row.name: (row.published.on_these_images or row.published).accuracy for row in rows}
    norm = rows[0].summary.manifest.get("norm", "l2")
    return certified_accuracy_figure(
        [row.summary.renamed(row.name) for row in rows], norm=norm, published=told
    )
