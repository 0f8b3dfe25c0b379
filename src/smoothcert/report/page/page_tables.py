"""The tables of the page, as HTML; every figure rounded in the safe direction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Reading
from smoothcert.report.figures.style import printable
from smoothcert.report.members import member_curves
from smoothcert.report.page.provenance import provenance
from smoothcert.report.page.repeat_command import repeat_command
from smoothcert.report.paper.costs import drawn_together
from smoothcert.report.paper.paper_table import PaperTable
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import interval_cells, percent_up, share_cells
from smoothcert.report.tables.attack_table import attack_lines, attack_radii, attack_rows
from smoothcert.report.tables.cost_columns import cost_columns, cost_lines
from smoothcert.report.wording import describe_indices
from smoothcert.rounding import floor_digits
from smoothcert.store import AttackResults, Run

SCROLL_HINT = '<p class="hint" aria-hidden="true">Scroll sideways to see all →</p>'
"""Shown on narrow screens, before what is always wider than those; readers of the screen are told by a label."""
_TOGETHER = "; runs that were certified by the same forward passes have none of their own"
_FIELDS = {
    "procedure": "procedure",
    "alpha": "alpha, one-sided, per image",
    "noise": "noise",
    "norm": "norm of the radius",
    "seed": "seed of the noise",
    "engine": "engine",
    "precision": "calculated in",
    "model": "weights digest",
    "ensemble": "ensemble",
    "num_classes": "classes",
    "dataset": "data set",
    "indices": "images",
    "on_nan": "if an answer is not a number",
    "chunk_votes": "votes per chunk of noise",
    "versions": "versions",
    "format": "format of the run",
}


def results_table(summaries: Sequence[Summary], radii: NDArray[np.float64]) -> str:
    """Return one row per summary: images, ACR, certified accuracy with intervals, abstained.

    The last summary, which the headline is about, is marked; curves of members stand below it.
    """
    heads = ["run", "images", "ACR", *(f"r = {radius:g}" for radius in radii)]
    heads += ["abstained"]
    rows = []
    for summary in summaries:
        results = summary.results
        reading = summary.read(radii)
        shares = _shares(reading, interval_cells(results, reading))
        abstained = int((results.predicted < 0).sum())
        cells = [f"{len(results):,}<small>{html_text(summary.indices)}</small>"]
        cells += [floor_digits(results.average_radius(), 4), *shares]
        cells += [f"{abstained:,}<small>{percent_up(results.abstained())}%</small>"]
        rows.append([name_span(summary.name), *cells])
    for curve in member_curves(summaries):
        shares = _shares(curve.ensemble.reach.read(curve, radii))
        rows.append([name_span(curve.name), "", floor_digits(curve.average_radius(), 4), *shares, ""])
    caption = "Certified accuracy (%) at radius r, with 95% intervals; ACR"
    return _table("results", caption, heads, rows, main=len(summaries) - 1, by_run=len(summaries))


def paper_table(table: PaperTable) -> str:
    """Return a table for a paper, and its notes below it."""
    rows = [[html_text(cell.plain) for cell in row] for row in table.rows]
    inner = _table("results", table.title, table.columns, rows)
    region = (
        f'class="scroll" tabindex="0" role="region" aria-label="{html_text(table.title)}, scrolls sideways"'
    )
    notes = "".join(f'<p class="small">{html_text(note)}</p>' for note in table.notes)
    return f"{SCROLL_HINT}<div {region}>{inner}</div>\n{notes}"


def attack_section(attack: AttackResults) -> str:
    """Return lower bound, upper bound and gap as a table, and what became of the certificates."""
    heads = ["accuracy (%)", *(f"r = {radius:g}" for radius in attack_radii(attack))]
    rows = [[html_text(name), *cells] for name, cells in attack_rows(attack).items()]
    table = _table("attack", "Certified from below, under attack from above", heads, rows)
    region = 'class="scroll" tabindex="0" role="region" aria-label="Attack, scrolls sideways"'
    lines = "".join(f'<p class="small">{html_text(line)}</p>' for line in attack_lines(attack))
    return f"<div {region}>{table}</div>\n{lines}"


def manifest_table(runs: Mapping[str, Run], models: Mapping[str, str | Path]) -> str:
    """Return how the models were made, as far as their folders are known, and what decides the votes."""
    if not runs:
        return '<p class="small">Logs of the field tell neither settings nor seeds.</p>'
    known = {name: provenance(models[name], run.manifest) for name, run in runs.items() if name in models}
    rows = [["model", _values(known, len(runs))]] if known else []
    for field, words in _FIELDS.items():
        rows.append([words, _values({name: _field(field, run) for name, run in runs.items()}, len(runs))])
    return f'<div class="scroll">{_table("manifest", "", ["setting", "value"], rows)}</div>'


def _values(values: Mapping[str, str], runs: int) -> str:
    """Return one value where all runs agree, else one per run."""
    if len(values) == runs and len(set(values.values())) == 1:
        return html_text(next(iter(values.values())))
    return "<br>".join(f"{html_text(name)}: {html_text(value)}" for name, value in values.items())


def _field(field: str, run: Run) -> str:
    value: Any = run.manifest.get(field, "none" if field == "ensemble" else "not recorded")
    if field == "indices":
        return describe_indices(np.asarray(value, dtype=np.int64))
    if isinstance(value, dict):
        parts = {key: inner for key, inner in value.items() if inner is not None}
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in parts.items())
    return str(value)


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        value = [word for pair in value.items() for word in pair]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def cost_table(summaries: Sequence[Summary], reference: Summary | None) -> str:
    """Return what each run cost and what early stopping saved; nothing for logs alone, which do not tell.

    Args:
        summaries: the rows.
        reference: a run of CERTIFY to compare time with.
    """
    if all(summary.samples is None for summary in summaries):
        return ""
    columns = {"votes": ["" for _ in summaries], **cost_columns(summaries, reference)}
    columns["votes"] = [_mean_up(summary.samples) for summary in summaries]
    columns["passes per image"] = [_mean_up(summary.evaluations) for summary in summaries]
    together = {summary.name for summary in drawn_together(summaries)}
    columns["seconds per image"] = ["" if one.name in together else _seconds(one) for one in summaries]
    rows = [
        [name_span(summary.name), *(cells[place] for cells in columns.values())]
        for place, summary in enumerate(summaries)
    ]
    lines = " ".join(cost_lines(list(columns)))
    region = 'class="scroll" tabindex="0" role="region" aria-label="Cost, scrolls sideways"'
    table = _table("results", "Cost: means per image, rounded up", ["run", *columns], rows, by_run=len(rows))
    return (
        f"<div {region}>{table}</div>\n"
        f'<p class="small">{html_text(lines)} Passes per image: forward passes of base networks. Seconds are those of '
        f"one worker{_TOGETHER if together else ''}.</p>"
    )


def command_blocks(summaries: Sequence[Summary]) -> str:
    """Return, for each run, the command that repeats it, with a button to copy it."""
    blocks = []
    for place, summary in enumerate(summaries):
        if summary.run is None:
            continue
        command = repeat_command(summary.run)
        if command is None:
            blocks.append(
                f'<p class="small">{html_text(summary.name)} was made in Python, or of more images or settings than a '
                "command line holds: repeat it there with the seed above.</p>"
            )
            continue
        blocks.append(
            f'<div class="command"><p class="small">To repeat {html_text(summary.name)}: '
            f'<button type="button" data-copy="command-{place}">Copy</button></p>'
            f'<pre id="command-{place}">{html_text(command)}</pre></div>'
        )
    return "\n".join(blocks)


def _seconds(summary: Summary) -> str:
    answered = summary.images - len(summary.failures)
    return (
        f"{math.ceil(1000 * summary.seconds / answered) / 1000:,.3f}" if summary.manifest and answered else ""
    )


def _table(
    kind: str,
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    main: int | None = None,
    by_run: int = 0,
) -> str:
    """Return a table; cells and rows are HTML already, heads and caption are text.

    `main` is the row to colour; the first `by_run` rows are about one run each, and are hidden with it.
    """
    above = f"<caption><span>{html_text(caption)}</span></caption>" if caption else ""
    top = "".join(f'<th scope="col">{html_text(head)}</th>' for head in heads)
    body = "\n".join(
        f"<tr{_row_marks(number == main, number if number < by_run else None)}>"
        f'<th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for number, (first, *cells) in enumerate(rows)
    )
    return f'<table class="{kind}">{above}<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


def _row_marks(is_main: bool, run: int | None) -> str:
    return (' class="main"' if is_main else "") + ("" if run is None else f' data-run="{run}"')


def html_text(text: object) -> str:
    """Return any value as text that HTML shows as it is."""
    return escape(printable(str(text)), quote=True)


def name_span(name: str) -> str:
    """Return a run's name that does not break at a hyphen, unless it is too long for that."""
    return f'<span class="name">{html_text(name)}</span>' if len(name) <= 24 else html_text(name)


def _shares(reading: Reading, below: Sequence[str] | None = None) -> list[str]:
    """Return shares in percent with what stands below each, or why there is none."""
    cells = zip(reading.notes, share_cells(reading), below or [""] * len(reading.notes), strict=True)
    return [
        f"{cell}%{f'<small>{text}</small>' if text else ''}"
        if note is None
        else f"{cell}{'' if note.hides else '%'}<small>{html_text(note.value.split(':')[0])}</small>"
        for note, cell, text in cells
    ]


def _mean_up(values: NDArray[np.int64] | None) -> str:
    known = None if values is None else values[values > 0]  # an image on which the model failed cost nothing
    return "" if known is None or not len(known) else f"{math.ceil(known.mean()):,}"
