"""A reproduction as tables: published and own figures in lines below each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from smoothcert.certificates import ACR_CAVEAT
from smoothcert.radii import radius_key
from smoothcert.report.comparing.comparison import Comparison
from smoothcert.report.paper.paper_table import PaperTable, cells_of
from smoothcert.report.reproduction.figures import FIGURES
from smoothcert.report.reproduction.reproduction import ReproducedPart, Reproduction
from smoothcert.report.reproduction.row import Published, ReproducedRow
from smoothcert.report.tables.accuracy_cells import mark_lines, percent, percent_up, share_cells
from smoothcert.rounding import ceil_digits, floor_digits

_NONE = "–"
_DIGITS = 3  # of ACR, as papers print it


def reproduction_tables(found: Reproduction) -> list[PaperTable]:
    """Return one table per part: for each row the published figures, the own ones, their intervals, the difference."""
    return [_part_table(found, part) for part in found.parts]


def _part_table(found: Reproduction, part: ReproducedPart) -> PaperTable:
    figures = [name for name in FIGURES if any(name in row.figures for row in part.rows)]
    heads = ["row", "figures", "ACR", *(f"r={radius:g}" for radius in part.radii)]
    heads += [FIGURES[name].heading for name in figures]
    return PaperTable(
        title=f"{found.paper}, {part.name}: ACR and certified accuracy (%) at radius, published and own",
        columns=tuple(heads),
        blocks=tuple(tuple(map(cells_of, _lines(row, part, figures))) for row in part.rows),
        notes=tuple(_notes(part, figures)),
        records=tuple(_records(part, figures)),
    )


def _lines(row: ReproducedRow, part: ReproducedPart, figures: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of one row."""
    grid = np.asarray(part.radii)
    yield [row.label, "published", *_published_cells(row.published, row, part, figures)]
    if row.published.on_these_images is not None:
        yield ["", "these images", *_published_cells(row.published.on_these_images, row, part, figures)]
    own = floor_digits(row.acr, _DIGITS) if row.has_acr else _NONE
    last = [_figure(name, row.figures.get(name)) for name in figures]
    yield ["", "own", own, *share_cells(row.read(grid)), *last]
    if not row.is_envelope:
        ends = row.acr_interval if row.has_acr else None
        acr = "" if ends is None else f"{floor_digits(ends[0], _DIGITS)}–{ceil_digits(ends[1], _DIGITS)}"
        shares = row.accuracy_interval(grid)
        cells = ["" if one is None else f"{percent(one[0])}–{percent_up(one[1])}" for one in shares]
        yield ["", "95% interval", acr, *cells, *("" for _ in figures)]
    against = part.against_baseline.get(row.name)
    if against is not None:
        yield ["", f"own - {part.baseline}", *_differences(against), *("" for _ in figures)]


def _published_cells(
    told: Published, row: ReproducedRow, part: ReproducedPart, figures: Sequence[str]
) -> list[str]:
    """Return the cells of what others found, the ACR in the form of the own one."""
    acr = told.acr_on(part.radii) if row.is_on_grid else told.acr
    shares = [told.accuracy.get(radius) for radius in part.radii]
    return [
        _NONE if acr is None else f"{acr:.{_DIGITS}f}",
        *(_NONE if share is None else f"{100 * share:.1f}" for share in shares),
        *(_figure(name, told.figures.get(name)) for name in figures),
    ]


def _differences(compared: Comparison) -> list[str]:
    """Return the intervals of the differences: of ACR, and in points of certified accuracy."""
    points = [
        None if one.interval is None else (100 * one.interval[0], 100 * one.interval[1])
        for one in compared.at
    ]
    return [_signed(compared.acr_interval, _DIGITS), *(_signed(ends, 1) for ends in points)]


def _signed(ends: tuple[float, float] | None, digits: int) -> str:
    if ends is None:
        return ""
    low, high = float(floor_digits(ends[0], digits)), float(ceil_digits(ends[1], digits))
    return f"{low:+.{digits}f} to {high:+.{digits}f}"


def _figure(name: str, value: float | None) -> str:
    return _NONE if value is None else f"{value:,.{FIGURES[name].digits}f}"


def _notes(part: ReproducedPart, figures: Sequence[str]) -> Iterator[str]:
    grid = np.asarray(part.radii)
    yield from mark_lines([row.read(grid) for row in part.rows])
    yield from dict.fromkeys(f"{row.summary.setting}, {row.summary.indices}." for row in part.rows)
    yield (
        "Intervals are over images: exact for certified accuracy, approximate (t) for ACR; they know nothing of other "
        "trainings. Own figures are rounded down, intervals outward."
    )
    if part.baseline_row is not None:
        yield f"own - {part.baseline}: 95% interval of the difference on the same images, for each radius by itself."
    if any(row.is_on_grid for row in part.rows):
        yield "ACR is that of the grid: the mean of the largest printed radius that is certified, published and own."
    if any(row.published.on_these_images is not None for row in part.rows):
        yield "these images: the same figures read off certificates that the paper's authors released, of these images."
    seeds = [row for row in part.rows if row.published.over_seeds is not None]
    if seeds:
        told = ", ".join(f"{row.label} {_spread(row)}" for row in seeds)
        yield f"Published ACR over seeds, mean ± standard deviation: {told}."
    if any(row.is_envelope for row in part.rows):
        yield (
            "An upper envelope takes the best member at each radius, which nobody could choose beforehand; its ACR is "
            "that of this curve on a grid of radii, and of its best member elsewhere."
        )
    yield from (FIGURES[name].says for name in figures)
    yield ACR_CAVEAT


def _spread(row: ReproducedRow) -> str:
    mean, deviation = row.published.over_seeds or (0.0, 0.0)
    return f"{mean:.4f} ± {deviation:.4f}"


def _records(part: ReproducedPart, figures: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one record per row, unrounded, for files that machines read."""
    for row in part.rows:
        told = row.to_json(part.radii)
        published, own = told["published"], told["own"]
        low, high = own["acr_interval"] or (None, None)
        against = part.against_baseline.get(row.name)
        less, more = (None if against is None else against.acr_interval) or (None, None)
        record = {
            "part": part.name,
            "row": row.name,
            "tables": "; ".join(row.tables),
            "images": own["images"],
        }
        record |= {
            "published_acr": row.published_acr,
            "these_images_acr": published["acr_on_these_images"],
            "own_acr": own["acr"],
            "own_acr_low": low,
            "own_acr_high": high,
            "own_minus_baseline_low": less,
            "own_minus_baseline_high": more,
        }
        for radius in map(radius_key, part.radii):
            ends = own["certified_accuracy_interval"][radius] or (None, None)
            record |= {
                f"published_{radius}": published["certified_accuracy"].get(radius),
                f"own_{radius}": own["certified_accuracy"][radius],
                f"own_{radius}_low": ends[0],
                f"own_{radius}_high": ends[1],
            }
        for name in figures:
            record |= {
                f"published_{name}": row.published.figures.get(name),
                f"own_{name}": row.figures.get(name),
            }
        yield record
