"""One static, self-contained HTML page about some runs; every figure rounded in the safe direction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothcert.arguments import check_kind, check_path
from smoothcert.atomic import write_atomically
from smoothcert.certificates import ACR_CAVEAT
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.figures.curves import certified_accuracy_figure, p_hat_figure, votes_figure
from smoothcert.report.figures.images_figure import images_figure
from smoothcert.report.figures.style import COLOURS, FAINT, INK, PAPER, STRONG, figure_svg
from smoothcert.report.page.page_tables import (
    SCROLL_HINT,
    attack_section,
    certificates_table,
    html_text,
    manifest_table,
    name_span,
    results_table,
)
from smoothcert.report.page.promises import IN_FLOATS, NOT_IN_FLOATS, holds_in_floats, radius_sentence
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import percent
from smoothcert.report.tables.summaries import common_grid
from smoothcert.store import AttackResults, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours of the figures -> names in the page's style, so that figures follow a dark colour scheme.
_THEME = {
    INK: "--ink",
    FAINT: "--faint",
    PAPER: "--paper",
    STRONG: "--strong",
    **{colour: f"--c{number}" for number, colour in enumerate(COLOURS)},
}


def write_report(
    runs: Mapping[str, Run],
    path: str | Path,
    *,
    title: str,
    dataset: Dataset | None = None,
    notes: Sequence[str] = (),
    attack: AttackResults | None = None,
    models: Mapping[str, str | Path] | None = None,
) -> None:
    """Write one HTML file about some runs that needs nothing else to be read; the last run is the main one.

    Not for runs in different norms, whose radii cannot be compared: those are refused.

    Args:
        runs: by the name to show, in the order to show.
        path: the file to write, whole or not at all.
        title: heading of the page.
        dataset: the data set of the last run, to show a few of its images; None shows none.
        notes: sentences to add under the headline, as plain text.
        attack: on the images of the last run: its curve, the gap and what became of the certificates are shown.
        models: folders of the runs' models by the same names, to say how they were trained; others are left out.
    """
    check_kind("runs", runs, Mapping, 'a table of runs by name, such as {"my run": run}')
    for run in runs.values():
        check_kind("each of runs", run, Run, "a Run: Run.open(folder), or what certify returned")
    if dataset is not None:
        check_kind("dataset", dataset, Dataset, "the smoothcert Dataset of the last run, or None")
    if attack is not None:
        check_kind("attack", attack, AttackResults, "what attack_images returned, or None")
    if models is not None:
        check_kind("models", models, Mapping, "a table of model folders by the names of the runs, or None")
    check_kind("notes", notes, (list, tuple), "a list of sentences")
    path = check_path("path", path)
    _check(runs)
    summaries = [Summary.of_run(run, name) for name, run in runs.items()]
    name, main = list(runs.items())[-1]
    radii, asked = _radii(summaries)
    sound = holds_in_floats(run.manifest for run in runs.values())
    warnings = [f'<p class="warning">{html_text(line)}</p>' for line in _warnings(runs)]
    page = Template(files("smoothcert.report.page").joinpath("page.html").read_text(encoding="utf-8"))
    write_atomically(
        path,
        page.substitute(
            title=html_text(title),
            headline=_headline(summaries, radii),
            facts=html_text(f"{summaries[-1].setting}; {summaries[-1].indices}"),
            notes="\n".join([*warnings, *(f"<p>{html_text(note)}</p>" for note in notes)]),
            table=results_table(summaries, radii),
            hint=SCROLL_HINT,
            caveat=html_text(ACR_CAVEAT),
            accuracy=_accuracy(summaries, main.manifest["norm"], asked, attack),
            shares=_shares(summaries),
            votes=_votes(summaries),
            images="" if dataset is None else _images(name, main, dataset),
            radius=html_text(radius_sentence(main.manifest["norm"])),
            in_floats=f"<li>{html_text(IN_FLOATS)}</li>" if sound else "",
            not_in_floats="" if sound else f"<li>{html_text(NOT_IN_FLOATS)}</li>",
            alpha=html_text(" or ".join(sorted({f"{run.manifest['alpha']:g}" for run in runs.values()}))),
            manifest=manifest_table(runs, models or {}),
            last=html_text(name),
            certificates=certificates_table(main),
            version=html_text(version("smoothcert")),
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


def _radii(summaries: Sequence[Summary]) -> tuple[NDArray[np.float64], bool]:
    """Return the radii of the table, and whether they are all that the runs asked for."""
    return common_grid(summaries), all(summary.asked is not None for summary in summaries)


def _headline(summaries: Sequence[Summary], radii: NDArray[np.float64]) -> str:
    """Say in one sentence what the last run reaches, at a radius near its median one, and the best other."""
    main, others = summaries[-1], summaries[:-1]
    count, their = (f"{len(main.results):,} images", "their") if len(main.results) > 1 else ("1 image", "its")
    certified = main.results.radius[main.results.correct]
    if not len(certified) and not main.reach.proves_all:
        return f"{name_span(main.name)} asked about radii that its votes <b>cannot prove</b>, of {count}"
    if not len(certified):
        return f"{name_span(main.name)} certifies <b>none</b> of {count} as {their} true class, at any radius"
    within = radii[radii <= certified.max()]
    at = float(within[np.argmin(np.abs(within - np.median(certified)))]) if len(within) else 0.0
    value = {summary.name: float(summary.results.certified_accuracy(at)[0]) for summary in summaries}
    line = (
        f"At radius {at:g}, {name_span(main.name)} certifies <b>{percent(value[main.name])}%</b> of {count} "
    )
    line += f"as {their} true class"
    if not others:
        return line
    best = max(others, key=lambda summary: value[summary.name])
    of = "" if len(best.results) == len(main.results) else f" of {len(best.results):,}"
    which = "the other run" if len(others) == 1 else "the best of the others"
    return f"{line}; {which}, {name_span(best.name)}, {percent(value[best.name])}%{of}"


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


def _accuracy(summaries: Sequence[Summary], norm: str, asked: bool, attack: AttackResults | None) -> str:
    reads = "The height at radius r is the share of images certified as their true class at r or more."
    grid = " The runs asked only about marked radii; between them the curve has the value of the next one."
    band = "The band is the 95% interval over images" + (" of the last curve." if len(summaries) > 3 else ".")
    caption = f"{reads}{grid if asked else ''} {band}"
    if attack is not None:
        caption += (
            " The dashed curve is what an attack left standing. It was made at the marked radii, and inside every "
            "certified one; in between it shows the last break. The truth lies in the shaded gap."
        )
    figure = _inline(certified_accuracy_figure(summaries, norm=norm, attack=attack), 1, caption, wide=True)
    return figure if attack is None else f"{figure}\n{attack_section(attack)}"


def _shares(summaries: Sequence[Summary]) -> str:
    caption = (
        "How many images (%) gave at most a share p_A of their votes to the leading class. Curves further to "
        "the right are clearer. Observed shares, not bounds; an image that stopped early had few votes."
    )
    return _inline(p_hat_figure(summaries), 2, caption)


def _votes(summaries: Sequence[Summary]) -> str:
    caption = (
        "How many images (%) needed more than so many votes. An ensemble of k networks spends k forward "
        "passes on each vote."
    )
    return _inline(votes_figure(summaries), 3, caption)


def _images(name: str, run: Run, dataset: Dataset) -> str:
    caption = "The ends of the run, not a sample of it. Every radius is rounded down."
    figure = _inline(images_figure(run, dataset), 4, caption, wide=True)
    return f"<h2>Some images of {html_text(name)}</h2>\n{figure}"


def _inline(figure: Figure, number: int, caption: str, *, wide: bool = False) -> str:
    """Return a figure as SVG inside HTML: ids made unique, colours from the page's style."""

    def adapt(tag: re.Match[str]) -> str:
        text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", tag[0])
        if text.startswith("<image"):  # two equal pictures have equal ids, which nothing refers to
            text = re.sub(r'\sid="[^"]*"', "", text)
        text = re.sub(r'(\sid="|url\(#|href="#)', rf"\g<1>f{number}-", text)
        return re.sub(r"#[0-9a-f]{6}\b", lambda c: f"var({_THEME[c[0]]})" if c[0] in _THEME else c[0], text)

    svg = figure_svg(figure)
    svg = re.sub(r"<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", adapt, svg).replace(
        "<svg ", f'<svg role="img" aria-label="{html_text(caption)}" ', 1
    )
    if wide:
        region = f'class="scroll" tabindex="0" role="region" aria-label="Figure {number}, scrolls sideways"'
        svg = f"{SCROLL_HINT}<div {region}>{svg}</div>"
    kind = "wide" if wide else "narrow"
    return f'<figure class="{kind}">{svg}<figcaption>{html_text(caption)}</figcaption></figure>'
