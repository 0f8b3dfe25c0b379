"""One static, self-contained HTML page about some runs; every figure rounded in the safe direction."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.atomic import write_atomically
from smoothcert.certificates import ACR_CAVEAT, Outcome
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import figures
from smoothcert.report.summary import CONFIDENCE, Summary, describe_indices
from smoothcert.report.tables import common_grid, percent
from smoothcert.store import Run, floor_digits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 500
_MOST_RADII = 12
# Colours of the figures -> names in the page's style, so that figures follow a dark colour scheme.
_THEME = {
    figures.INK: "--ink",
    figures.FAINT: "--faint",
    figures.PAPER: "--paper",
    figures.STRONG: "--strong",
    **{colour: f"--c{number}" for number, colour in enumerate(figures.COLOURS)},
}
_FIELDS = {
    "procedure": "procedure",
    "alpha": "alpha, one-sided, per image",
    "noise": "noise",
    "norm": "norm of the radius",
    "seed": "seed of the noise",
    "engine": "engine",
    "model": "weights digest",
    "num_classes": "classes",
    "dataset": "data set",
    "indices": "images",
    "on_nan": "if an answer is not a number",
    "chunk_votes": "votes per chunk of noise",
    "versions": "versions",
    "format": "format of the run",
}


def write_report(
    runs: Mapping[str, Run],
    path: Path,
    *,
    title: str,
    dataset: Dataset | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write one HTML file about some runs that needs nothing else to be read; the last run is the main one.

    Not for runs in different norms, whose radii cannot be compared: those are refused.

    Args:
        runs: by the name to show, in the order to show.
        path: the file to write, whole or not at all.
        title: heading of the page.
        dataset: the data set of the last run, to show a few of its images; None shows none.
        notes: sentences to add under the headline, as plain text.
    """
    _check(runs)
    summaries = [Summary.of_run(run, name) for name, run in runs.items()]
    name, main = list(runs.items())[-1]
    radii, asked = _radii(runs, summaries)
    warnings = [f'<p class="warning">{_text(line)}</p>' for line in _warnings(runs)]
    page = Template(files("smoothcert.report").joinpath("page.html").read_text(encoding="utf-8"))
    write_atomically(
        path,
        page.substitute(
            title=_text(title),
            headline=_headline(summaries, radii),
            facts=_text(_facts(main)),
            notes="\n".join([*warnings, *(f"<p>{_text(note)}</p>" for note in notes)]),
            table=_results_table(summaries, radii),
            caveat=_text(ACR_CAVEAT),
            accuracy=_accuracy(summaries, main.manifest["norm"], asked),
            shares=_shares(summaries),
            votes=_votes(summaries),
            images="" if dataset is None else _images(name, main, dataset),
            norm=_text(figures.NORMS.get(main.manifest["norm"], main.manifest["norm"])),
            alpha=_text(" or ".join(sorted({f"{run.manifest['alpha']:g}" for run in runs.values()}))),
            manifest=_manifest_table(runs),
            last=_text(name),
            certificates=_certificates_table(main),
            version=_text(version("smoothcert")),
        ),
    )


def _check(runs: Mapping[str, Run]) -> None:
    """Refuse what cannot be put on one page."""
    empty = [name for name, run in runs.items() if not len(run)]
    if empty or not runs:
        raise InvalidArgumentError(
            f"a report needs at least one run, each with a finished image, got {empty or 'none'}; "
            "finish the run with resume"
        )
    norms = sorted({run.manifest["norm"] for run in runs.values()})
    if len(norms) > 1:
        raise InvalidArgumentError(
            f"the runs measure radii in different norms ({', '.join(norms)}); write one report for each norm"
        )


def _radii(runs: Mapping[str, Run], summaries: Sequence[Summary]) -> tuple[NDArray[np.float64], bool]:
    """Return the radii of the table, and whether they are all that the runs asked for."""
    asked: set[float] = set()
    for run in runs.values():
        procedure = run.manifest["procedure"]
        radii = procedure.get("radii") or [procedure.get("radius")]
        if None in radii:  # a procedure that finds a radius of its own
            return common_grid(summaries), False
        asked.update(radii)
    return (np.array(sorted(asked)), True) if len(asked) <= _MOST_RADII else (common_grid(summaries), True)


def _headline(summaries: Sequence[Summary], radii: NDArray[np.float64]) -> str:
    """Say in one sentence what the last run reaches, at a radius near its median one, and the best other."""
    main, others = summaries[-1], summaries[:-1]
    count, their = (f"{len(main.results):,} images", "their") if len(main.results) > 1 else ("1 image", "its")
    certified = main.results.radius[main.results.correct]
    if not len(certified):
        return f"{_name(main.name)} certifies <b>none</b> of {count} as {their} true class, at any radius"
    within = radii[radii <= certified.max()]
    at = float(within[np.argmin(np.abs(within - np.median(certified)))]) if len(within) else 0.0
    value = {summary.name: float(summary.results.certified_accuracy(at)[0]) for summary in summaries}
    line = f"At radius {at:g}, {_name(main.name)} certifies <b>{percent(value[main.name])}%</b> of {count} "
    line += f"as {their} true class"
    if not others:
        return line
    best = max(others, key=lambda summary: value[summary.name])
    of = "" if len(best.results) == len(main.results) else f" of {len(best.results):,}"
    which = "the other run" if len(others) == 1 else "the best of the others"
    return f"{line}; {which}, {_name(best.name)}, {percent(value[best.name])}%{of}"


def _facts(run: Run) -> str:
    manifest = run.manifest
    noise = ", ".join(f"{key} {value}" for key, value in manifest["noise"].items() if key != "name")
    return (
        f"Data: {manifest['dataset']['name']} ({manifest['dataset']['split']}), "
        f"{describe_indices(run.results.index)} · noise: {manifest['noise']['name']}, {noise} · "
        f"norm: {figures.NORMS.get(manifest['norm'], manifest['norm'])} · "
        f"procedure: {manifest['procedure']['name']} · error at most {manifest['alpha']:g} per image"
    )


def _warnings(runs: Mapping[str, Run]) -> Iterable[str]:
    """Say what makes the runs hard to compare."""
    for name, run in runs.items():
        if not run.is_complete:
            yield f"{name} is unfinished: {len(run):,} of its {len(run.manifest['indices']):,} images are in."
    first, *others = runs.values()
    if any(run.manifest["dataset"]["digest"] != first.manifest["dataset"]["digest"] for run in others):
        yield "The runs are about different data sets: their figures cannot be compared."
    elif any(not np.array_equal(run.results.index, first.results.index) for run in others):
        yield "The runs are about different images: part of any difference comes from the choice of images."
    if any(run.manifest["alpha"] != first.manifest["alpha"] for run in others):
        yield "The runs have different error probabilities alpha."


def _results_table(summaries: Sequence[Summary], radii: NDArray[np.float64]) -> str:
    heads = ["run", "images", "ACR", *(f"r = {radius:g}" for radius in radii)]
    heads += ["abstained", "votes per image"]
    rows = []
    for summary in summaries:
        results = summary.results
        low, high = results.certified_accuracy_interval(radii, CONFIDENCE)
        shares = [
            f"{percent(share)}%<small>{percent(a)}–{_percent_up(b)}</small>"
            for share, a, b in zip(results.certified_accuracy(radii), low, high, strict=True)
        ]
        abstained = int((results.predicted < 0).sum())
        cells = [f"{len(results):,}<small>{_text(summary.indices)}</small>"]
        cells += [floor_digits(results.average_radius(), 4), *shares]
        cells += [f"{abstained:,}<small>{_percent_up(results.abstained())}%</small>"]
        cells += [f"{_mean_up(summary.samples)}<small>{_mean_up(summary.evaluations)} passes</small>"]
        rows.append([_name(summary.name), *cells])
    return _table("results", "Certified accuracy (%) at radius r, with 95% intervals; ACR; cost", heads, rows)


def _accuracy(summaries: Sequence[Summary], norm: str, asked: bool) -> str:
    reads = "The height at radius r is the share of images certified as their true class at r or more."
    grid = " The runs asked only about marked radii; between them the curve has the value of the next one."
    band = "The band is the 95% interval over images" + (" of the last curve." if len(summaries) > 3 else ".")
    caption = f"{reads}{grid if asked else ''} {band}"
    return _inline(figures.certified_accuracy_figure(summaries, norm=norm), 1, caption, wide=True)


def _shares(summaries: Sequence[Summary]) -> str:
    caption = (
        "How many images (%) gave at most a share p_A of their votes to the leading class. Curves further to "
        "the right are clearer. Observed shares, not bounds; an image that stopped early had few votes."
    )
    return _inline(figures.p_hat_figure(summaries), 2, caption)


def _votes(summaries: Sequence[Summary]) -> str:
    caption = (
        "How many images (%) needed more than so many votes. An ensemble of k networks spends k forward "
        "passes on each vote."
    )
    return _inline(figures.votes_figure(summaries), 3, caption)


def _images(name: str, run: Run, dataset: Dataset) -> str:
    caption = "The ends of the run, not a sample of it. Every radius is rounded down."
    figure = _inline(figures.images_figure(run, dataset), 4, caption, wide=True)
    return f"<h2>Some images of {_text(name)}</h2>\n{figure}"


def _inline(figure: Figure, number: int, caption: str, *, wide: bool = False) -> str:
    """Return a figure as SVG inside HTML: ids made unique, colours from the page's style."""

    def adapt(tag: re.Match[str]) -> str:
        text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", tag[0])
        if text.startswith("<image"):  # two equal pictures have equal ids, which nothing refers to
            text = re.sub(r'\sid="[^"]*"', "", text)
        text = re.sub(r'(\sid="|url\(#|href="#)', rf"\g<1>f{number}-", text)
        return re.sub(r"#[0-9a-f]{6}\b", lambda c: f"var({_THEME[c[0]]})" if c[0] in _THEME else c[0], text)

    svg = figures.figure_svg(figure)
    svg = re.sub(r"<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", adapt, svg).replace(
        "<svg ", f'<svg role="img" aria-label="{_text(caption)}" ', 1
    )
    if wide:
        svg = f'<div class="scroll" tabindex="0" role="region" aria-label="Figure {number}">{svg}</div>'
    kind = "wide" if wide else "narrow"
    return f'<figure class="{kind}">{svg}<figcaption>{_text(caption)}</figcaption></figure>'


def _manifest_table(runs: Mapping[str, Run]) -> str:
    """Return what decides the votes: one value where all runs agree, else one per run."""
    rows = []
    for field, words in _FIELDS.items():
        values = {name: _field(field, run) for name, run in runs.items()}
        if len(set(values.values())) == 1:
            rows.append([words, _text(next(iter(values.values())))])
        else:
            rows.append([words, "<br>".join(f"{_text(n)}: {_text(value)}" for n, value in values.items())])
    return f'<div class="scroll">{_table("manifest", "", ["setting", "value"], rows)}</div>'


def _field(field: str, run: Run) -> str:
    value: Any = run.manifest.get(field, "not recorded")
    if field == "indices":
        return describe_indices(np.asarray(value, dtype=np.int64))
    if isinstance(value, dict):
        parts = {key: inner for key, inner in value.items() if inner is not None}
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in parts.items())
    return str(value)


def _plain(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _certificates_table(run: Run) -> str:
    names, results, rows = run.manifest["class_names"], run.results, []
    columns = zip(*(run.column(c) for c in ("p_lower", "samples", "outcome")), run.p_hat, strict=True)
    for i, (p_lower, votes, outcome, p_hat) in zip(range(MOST_ROWS), columns, strict=False):
        said = int(results.predicted[i])
        end = Outcome[outcome].value if said < 0 else "certified"
        end += ", not its label" if said >= 0 and not results.correct[i] else ""
        rows.append([
            str(results.index[i]), _text(_class(names, int(results.label[i]))),
            "–" if said < 0 else _text(_class(names, said)), floor_digits(results.radius[i], 4),
            floor_digits(p_lower, 5), floor_digits(p_hat, 5), f"{votes:,}", _text(end),
        ])  # fmt: skip
    heads = ["image", "label", "certified", "radius", "p_A at least", "p_A observed", "votes", "outcome"]
    cut = f"The first {MOST_ROWS} of {len(run):,} images; the run holds the others."
    shown = cut if len(run) > MOST_ROWS else ""
    region = 'class="scroll" tabindex="0" role="region" aria-label="Every image, scrolls sideways"'
    return f"<div {region}>{_table('certificates', shown, heads, rows)}</div>"


def _class(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else str(number)


def _table(kind: str, caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells and rows are HTML already, heads and caption are text."""
    above = f"<caption><span>{_text(caption)}</span></caption>" if caption else ""
    top = "".join(f'<th scope="col">{_text(head)}</th>' for head in heads)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )
    return f'<table class="{kind}">{above}<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


def _text(text: object) -> str:
    return escape(figures.printable(str(text)), quote=True)


def _name(name: str) -> str:
    """Return a run's name that does not break at a hyphen, unless it is too long for that."""
    return f'<span class="name">{_text(name)}</span>' if len(name) <= 24 else _text(name)


def _percent_up(fraction: float) -> str:
    return f"{math.ceil(round(fraction * 1000, 9)) / 10:.1f}"


def _mean_up(values: NDArray[np.int64] | None) -> str:
    return "" if values is None else f"{math.ceil(values.mean()):,}"
