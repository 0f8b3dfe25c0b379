"""One self-contained HTML page about some runs and logs; every figure rounded in the safe direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smoothcert.amounts import amount
from smoothcert.arguments import check_kind, check_path
from smoothcert.atomic import write_atomically
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.radii import named_radii
from smoothcert.report.members import member_curves
from smoothcert.report.page.gallery import gallery
from smoothcert.report.page.page_data import page_data, script_json
from smoothcert.report.page.page_tables import (
    SCROLL_HINT,
    attack_section,
    command_blocks,
    cost_table,
    html_text,
    manifest_table,
    name_span,
    paper_table,
    results_table,
)
from smoothcert.report.page.promises import IN_FLOATS, NOT_IN_FLOATS, UNTOLD, holds_in_floats, radius_sentence
from smoothcert.report.paper.paper_table import PaperTable
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import percent
from smoothcert.report.tables.small_print import acr_lines
from smoothcert.report.tables.summaries import ENVELOPE, common_grid, given_grid
from smoothcert.report.wording import failed_text
from smoothcert.store import AttackResults, Run
from smoothcert.theory import LogProbabilityGaps


def write_report(
    runs: Mapping[str, Run | Summary],
    path: str | Path,
    *,
    title: str,
    dataset: Dataset | None = None,
    notes: Sequence[str] = (),
    attack: AttackResults | None = None,
    models: Mapping[str, str | Path] | None = None,
    gaps: Mapping[str, LogProbabilityGaps] | None = None,
    reference: Summary | None = None,
    radii: Sequence[float] | None = None,
    tables: Sequence[PaperTable] = (),
) -> None:
    """Write one HTML file about some runs that needs nothing else to be read; the last run is the main one.

    Not for runs in different norms, whose radii cannot be compared: those are refused.

    Args:
        runs: by the name to show, in the order to show; a `Summary` stands for a log of the field.
        path: the file to write, whole or not at all.
        title: heading of the page.
        dataset: the data set of the last run, to show a few of its images; None shows none.
        notes: sentences to add under the headline, as plain text.
        attack: on the images of the last run: its curve, the gap and what became of the certificates are shown.
        models: folders of the runs' models by the same names, to say how they were trained; others are left out.
        gaps: log-probability gaps of one image by the names of runs, for the histogram of the papers.
        reference: a run of CERTIFY to compare time with, which adds TimeRF.
        radii: where the table reads certified accuracy, in pixel units; some that suit all runs by default.
        tables: other tables about the runs, to be shown first, each with its notes.
    """
    _check_kinds(runs, dataset, notes, attack, models, gaps, reference)
    path = check_path("path", path)
    summaries = [_summary(run, name) for name, run in runs.items()]
    norm = _check(summaries)
    made = [summary.run for summary in summaries if summary.run is not None]
    main = summaries[-1]
    grid = common_grid(summaries) if radii is None else given_grid("radii", radii)
    if dataset is not None and main.run is None:
        raise InvalidArgumentError("dataset shows images of the last run, which is a log; leave it out")
    data = page_data(summaries, norm=norm, class_names=_class_names(made), attack=attack, gaps=gaps)
    sound = bool(made) and len(made) == len(summaries) and holds_in_floats(run.manifest for run in made)
    warnings = [f'<p class="warning">{html_text(line)}</p>' for line in _warnings(summaries)]
    page = Template(_file("page.html"))
    write_atomically(
        path,
        page.substitute(
            title=html_text(title),
            style=_file("page.css"),
            headline=_headline(summaries, grid),
            facts=html_text(f"{main.setting}; {main.indices}" if main.setting else f"A log; {main.indices}"),
            notes="\n".join([*warnings, *(f"<p>{html_text(note)}</p>" for note in notes)]),
            tables="\n".join(map(paper_table, tables)),
            reads=html_text(_reads(summaries, attack)),
            attack="" if attack is None else attack_section(attack),
            table=results_table(summaries, grid),
            cost=cost_table(summaries, reference),
            hint=SCROLL_HINT,
            caveat=html_text(" ".join(_caveats(summaries))),
            gaps=_gap_figure(data["gaps"], data["classNames"]) if data["gaps"] else "",
            images="" if dataset is None or main.run is None else _images(main, main.run, dataset),
            radius=html_text(radius_sentence(norm)),
            in_floats=f"<li>{html_text(IN_FLOATS)}</li>" if sound else "",
            not_in_floats="" if sound else f"<li>{html_text(NOT_IN_FLOATS)}</li>",
            alpha=html_text(_alphas(made, summaries)),
            manifest=manifest_table(
                {one.name: one.run for one in summaries if one.run is not None}, models or {}
            ),
            commands=command_blocks(summaries),
            version=html_text(version("smoothcert")),
            data=script_json(data),
            library=_library(),
            script=_file("figures.js") + _file("page.js"),
        ),
    )


def _file(name: str) -> str:
    return files("smoothcert.report.page").joinpath(name).read_text(encoding="utf-8")


def _library() -> str:
    from plotly.offline import get_plotlyjs

    # An end tag in the library's texts would end the script that holds it.
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _summary(run: Run | Summary, name: str) -> Summary:
    return Summary.of_run(run, name) if isinstance(run, Run) else run.renamed(name)


def _check_kinds(
    runs: Any, dataset: Any, notes: Any, attack: Any, models: Any, gaps: Any, reference: Any
) -> None:
    check_kind("runs", runs, Mapping, 'a table of runs by name, such as {"my run": run}')
    for run in runs.values():
        check_kind("each of runs", run, (Run, Summary), "a Run: Run.open(folder), or what certify returned")
    check_kind("notes", notes, (list, tuple), "a list of sentences")
    for name, value, kind, fix in (
        ("dataset", dataset, Dataset, "the smoothcert Dataset of the last run, or None"),
        ("attack", attack, AttackResults, "what attack_images returned, or None"),
        ("models", models, Mapping, "a table of model folders by the names of the runs, or None"),
        ("gaps", gaps, Mapping, "a table of log-probability gaps by the names of the runs, or None"),
        ("reference", reference, Summary, "a Summary of a run of CERTIFY, or None"),
    ):
        if value is not None:
            check_kind(name, value, kind, fix)


def _check(summaries: Sequence[Summary]) -> str:
    """Return the norm of all radii; refuse what cannot be put on one page."""
    empty = [summary.name for summary in summaries if not summary.images]
    if empty or not summaries:
        raise InvalidArgumentError(
            f"a report needs at least one run, each with a finished image, got {empty or 'none'}; "
            "finish the run with resume"
        )
    if not all(isinstance(summary.name, str) for summary in summaries):
        raise InvalidArgumentError("runs must have names that are text, such as {'my run': run}")
    norms = sorted({norm for summary in summaries if (norm := _norm(summary)) is not None})
    if len(norms) > 1:
        raise InvalidArgumentError(
            f"the runs measure radii in different norms ({', '.join(norms)}); write one report for each norm"
        )
    return norms[0] if norms else UNTOLD


def _norm(summary: Summary) -> str | None:
    """Return the norm of a summary's radii; None for a log that does not tell."""
    return summary.reach.norm if not summary.manifest else str(summary.manifest["norm"])


def _class_names(runs: Sequence[Run]) -> Sequence[str]:
    """Return the names of the classes, if all runs have the same."""
    names = [list(run.manifest["class_names"]) for run in runs]
    return names[0] if names and all(one == names[0] for one in names) else ()


def _alphas(runs: Sequence[Run], summaries: Sequence[Summary]) -> str:
    known = sorted({f"{run.manifest['alpha']:g}" for run in runs})
    told = f"alpha = {' or '.join(known)}" if known else "alpha"
    return told if len(runs) == len(summaries) else f"{told} (logs do not tell theirs)"


def _reads(summaries: Sequence[Summary], attack: AttackResults | None) -> str:
    text = "The height at radius r is the share of images certified as their true class at r or more."
    if all(summary.asked is not None for summary in summaries):
        text += (
            " The runs asked only about marked radii; between them the curve has the value of the next one."
        )
    text += " The band is the 95% interval over images"
    text += "; with more than three curves only the last shown has one." if len(summaries) > 3 else "."
    if any(summary.asked is not None for summary in summaries):
        text += (
            " Dots are radii that were asked about; ≥ in a value: at least what the next asked radius proves."
        )
    if attack is not None:
        text += (
            " The dotted curve is what an attack left standing. It was made at the marked radii, and inside every "
            "certified one; in between it shows the last break. The truth lies between the two curves."
        )
    return text


def _caveats(summaries: Sequence[Summary]) -> Iterator[str]:
    if any(True for _ in member_curves(summaries)):
        yield ENVELOPE
    yield from acr_lines(summaries)


def _gap_figure(gaps: Sequence[Mapping[str, Any]], class_names: Sequence[str]) -> str:
    first = gaps[0]
    label = class_names[first["label"]] if first["label"] < len(class_names) else first["label"]
    caption = (
        f"Log-probability gap of image {first['index']} ({label}) under noise: log of the true class's probability "
        f"minus that of the best other class, over {first['copies']:,} noisy copies, as one pass of the network gives "
        "them. Left of the dashed line a copy is misclassified. These are no votes of a run."
    )
    return (
        '<figure><div id="gaps" class="plot" role="img" aria-label="Log-probability gaps"></div>'
        f"<figcaption>{html_text(caption)}</figcaption></figure>"
    )


def _images(summary: Summary, run: Run, dataset: Dataset) -> str:
    about = (
        "The ends of the run, not a sample of it; every radius is rounded down. Beside each image two noisy copies, "
        "drawn for this page and clipped to what a screen shows; networks see them unclipped."
    )
    return f'<h3>Some images of {html_text(summary.name)}</h3><p class="small">{about}</p>{gallery(run, dataset)}'


def _headline(summaries: Sequence[Summary], radii: NDArray[np.float64]) -> str:
    """Say in one sentence what the last run reaches, at a radius near its median one, and the best other."""
    main, others = summaries[-1], summaries[:-1]
    count, their = amount(len(main.results), "image"), "their" if len(main.results) > 1 else "its"
    certified = main.results.radius[main.results.correct]
    if not len(certified) and not main.reach.proves_all:
        return f"{name_span(main.name)} asked about radii that its votes <b>cannot prove</b>, of {count}"
    if not len(certified):
        return f"{name_span(main.name)} certifies <b>none</b> of {count} as {their} true class, at any radius"
    within = radii[radii <= certified.max()]
    at = float(within[np.argmin(np.abs(within - np.median(certified)))]) if len(within) else 0.0
    said = {summary.name: _said(summary, at) for summary in summaries}
    share = said[main.name]
    line = f"At radius {at:g}, {name_span(main.name)} certifies <b>{share.words}</b> of {count} as {their} true class"
    known = [summary for summary in others if said[summary.name].share is not None]
    if not known:
        return line
    best = max(known, key=lambda summary: said[summary.name].share or 0.0)
    of = "" if len(best.results) == len(main.results) else f" of {len(best.results):,}"
    which = "the other run" if len(others) == 1 else "the best of the others"
    return f"{line}; {which}, {name_span(best.name)}, {said[best.name].words}{of}"


class _Said(NamedTuple):
    """A share at a radius as a sentence says it; None where a run cannot speak of that radius."""

    share: float | None
    words: str


def _said(summary: Summary, radius: float) -> _Said:
    reading = summary.read(named_radii([radius]))
    (share,), (note,) = reading.told, reading.notes
    words = "" if share is None else f"{'at least ' if note is not None else ''}{percent(share)}%"
    return _Said(share, words)


def _warnings(summaries: Sequence[Summary]) -> Iterator[str]:
    """Say what makes the runs hard to compare."""
    for summary in summaries:
        if summary.missing:
            yield (
                f"{summary.name} is unfinished: {summary.images:,} of its "
                f"{amount(summary.images + summary.missing, 'image')} are in. Hard images end last, so it looks "
                "better than it is."
            )
        if summary.failures:
            yield failed_text(summary.name, summary.failures, summary.images).removeprefix("Warning: ")
    first, *others = summaries
    digests = {one.manifest["dataset"]["digest"] for one in summaries if one.manifest}
    labels = {
        tuple(zip(one.results.index.tolist(), one.results.label.tolist(), strict=True)) for one in summaries
    }
    if len(digests) > 1:
        yield "The runs are about different data sets: their figures cannot be compared."
    elif any(not np.array_equal(one.results.index, first.results.index) for one in others):
        yield "The runs are about different images: part of any difference comes from the choice of images."
    elif len(labels) > 1:
        yield "The same images have different labels in these runs: they are of different data sets."
    untold = [one.name for one in summaries if _norm(one) is None]
    if untold and len(untold) < len(summaries):
        yield f"{', '.join(untold)} does not tell the norm of its radii: that it is the others' is trusted."
    if len({one.manifest["alpha"] for one in summaries if one.manifest}) > 1:
        yield "The runs have different error probabilities alpha."
