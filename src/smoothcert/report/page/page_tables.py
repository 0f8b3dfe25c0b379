"""The tables of the page, as HTML; every figure rounded in the safe direction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Outcome, Reading
from smoothcert.report.figures.style import printable
from smoothcert.report.members import member_curves
from smoothcert.report.page.provenance import provenance
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import interval_cells, percent_up, share_cells
from smoothcert.report.tables.attack_table import attack_lines, attack_radii, attack_rows
from smoothcert.report.wording import describe_indices
from smoothcert.rounding import floor_digits
from smoothcert.store import AttackResults, Run

MOST_ROWS = 500
SCROLL_HINT = '<p class="hint" aria-hidden="true">Scroll sideways to see all →</p>'
"""Shown on narrow screens, before what is always wider than those; readers of the screen are told by a label."""
_FIELDS = {
    "procedure": "procedure",
    "alpha": "alpha, one-sided, per image",
    "noise": "noise",
    "norm": "norm of the radius",
    "seed": "seed of the noise",
    "engine": "engine",
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
    """Return one row per summary: images, ACR, certified accuracy with intervals, abstained, cost.

    The last summary, which the headline is about, is marked; curves of members stand below it.
    """
    heads = ["run", "images", "ACR", *(f"r = {radius:g}" for radius in radii)]
    heads += ["abstained", "votes per image"]
    rows = []
    for summary in summaries:
        results = summary.results
        reading = summary.read(radii)
        shares = _shares(reading, interval_cells(results, reading))
        abstained = int((results.predicted < 0).sum())
        cells = [f"{len(results):,}<small>{html_text(summary.indices)}</small>"]
        cells += [floor_digits(results.average_radius(), 4), *shares]
        cells += [f"{abstained:,}<small>{percent_up(results.abstained())}%</small>"]
        cells += [f"{_mean_up(summary.samples)}<small>{_mean_up(summary.evaluations)} passes</small>"]
        rows.append([name_span(summary.name), *cells])
    for curve in member_curves(summaries):
        shares = _shares(curve.ensemble.reach.read(curve, radii))
        rows.append([name_span(curve.name), "", floor_digits(curve.average_radius(), 4), *shares, "", ""])
    caption = "Certified accuracy (%) at radius r, with 95% intervals; ACR; cost"
    return _table("results", caption, heads, rows, main=len(summaries) - 1)


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


def certificates_table(run: Run) -> str:
    """Return one row per image of a run, at most `MOST_ROWS`."""
    names, results, rows = run.manifest["class_names"], run.results, []
    columns = zip(*(run.column(c) for c in ("p_lower", "samples", "outcome")), run.p_hat, strict=True)
    for i, (p_lower, votes, outcome, p_hat) in zip(range(MOST_ROWS), columns, strict=False):
        said = int(results.predicted[i])
        end = Outcome[outcome].value if said < 0 else "certified"
        end += ", not its label" if said >= 0 and not results.correct[i] else ""
        rows.append([
            str(results.index[i]), html_text(_class(names, int(results.label[i]))),
            "–" if said < 0 else html_text(_class(names, said)), floor_digits(results.radius[i], 4),
            floor_digits(p_lower, 5), floor_digits(p_hat, 5), f"{votes:,}", html_text(end),
        ])  # fmt: skip
    heads = ["image", "label", "certified", "radius", "p_A at least", "p_A observed", "votes", "outcome"]
    cut = f"The first {MOST_ROWS} of {len(run):,} images; the run holds the others."
    shown = cut if len(run) > MOST_ROWS else ""
    region = 'class="scroll" tabindex="0" role="region" aria-label="Every image, scrolls sideways"'
    return f"{SCROLL_HINT}<div {region}>{_table('certificates', shown, heads, rows)}</div>"


def _class(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else str(number)


def _table(
    kind: str, caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], main: int | None = None
) -> str:
    """Return a table; cells and rows are HTML already, heads and caption are text; `main` is the row to colour."""
    above = f"<caption><span>{html_text(caption)}</span></caption>" if caption else ""
    top = "".join(f'<th scope="col">{html_text(head)}</th>' for head in heads)
    body = "\n".join(
        ('<tr class="main">' if number == main else "<tr>")
        + f'<th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for number, (first, *cells) in enumerate(rows)
    )
    return f'<table class="{kind}">{above}<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


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
    return "" if values is None else f"{math.ceil(values.mean()):,}"
