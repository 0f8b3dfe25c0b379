"""All figures that some runs have the data for, as PDF, SVG and PNG files; what is left out is told with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.figures.acr_figures import acr_over_number_figure, acr_over_time_figure
from smoothcert.report.figures.curves import certified_accuracy_figure, p_hat_figure, votes_figure
from smoothcert.report.figures.group_curves import group_accuracy_figure
from smoothcert.report.figures.noise_gap_figure import noise_gap_figure
from smoothcert.report.figures.style import FORMS, save_figure
from smoothcert.report.figures.theory_figure import predicting_pairs, theory_figure
from smoothcert.report.figures.vote_gap_figure import vote_gap_figure
from smoothcert.report.paper.acr_series import Folders, over_heads, over_members, over_time
from smoothcert.report.paper.seed_group import SeedGroup
from smoothcert.report.summary import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from smoothcert.theory import LogProbabilityGaps

_UNTOLD = "norm not told by the log"
_NO_VOTES = "logs in the field's columns hold no votes"
_NO_PAIR = (
    "it needs two runs of one model with other seeds of the noise: one of procedure fixed, and one with as many votes "
    "or more, which tell the probabilities"
)
_ONE_NUMBER = "there are no two runs under equal settings that differ in it"


@dataclass(frozen=True)
class PaperFigures:
    """What was written, and what was not.

    Args:
        written: files, in order.
        left_out: names of figures without data, each with the reason.
    """

    written: tuple[Path, ...]
    left_out: dict[str, str]


def write_paper_figures(
    groups: Sequence[SeedGroup],
    folder: str | Path,
    models: Folders | None = None,
    *,
    gaps: Mapping[str, LogProbabilityGaps] | None = None,
    on_file: Callable[[Path], None] = lambda path: None,
) -> PaperFigures:
    """Write each figure that there are data for as PDF, SVG and PNG, in one style; the same bytes for the same data.

    Args:
        groups: what `group_runs` returned, at least one, radii in one norm.
        folder: where to write; made if missing.
        models: what `find_folders` returned: folders of the runs' models, which tell heads and time of training.
        gaps: log-probability gaps of one image by the names of runs.
        on_file: called with each file, once it is there.
    """
    summaries = [one for group in groups for one in group.members]
    norms = {one.reach.norm for one in summaries} - {None}
    if len(norms) > 1:
        raise InvalidArgumentError(
            f"the runs measure radii in different norms ({', '.join(sorted(map(str, norms)))}); draw figures for each "
            "norm by itself"
        )
    norm = str(norms.pop()) if norms else _UNTOLD
    written, left_out = list[Path](), dict[str, str]()
    for sketch in [*_sketches(groups, models or {}, norm), _of_gaps(gaps or {})]:
        if sketch.draw is None:
            left_out[sketch.name] = sketch.reason
            continue
        if sketch.without:
            left_out[f"{sketch.name} of {', '.join(sketch.without)}"] = sketch.reason
        figure = sketch.draw()
        for form in sorted(FORMS):
            written.append(Path(folder) / f"{sketch.name}.{form}")
            save_figure(figure, written[-1])
            on_file(written[-1])
    return PaperFigures(tuple(written), left_out)


@dataclass(frozen=True)
class _Sketch:
    """A figure to be drawn, or why there is none.

    Args:
        name: of its files.
        draw: makes it; None where there are no data.
        reason: why it, or a part of it, is missing.
        without: names of runs that are not in it.
    """

    name: str
    draw: Callable[[], Figure] | None
    reason: str
    without: tuple[str, ...] = ()


def _sketches(groups: Sequence[SeedGroup], models: Folders, norm: str) -> Iterator[_Sketch]:
    """Yield all figures, in order."""
    summaries = [one for group in groups for one in group.members]
    if any(group.seeds > 1 for group in groups):
        yield _Sketch("certified_accuracy", lambda: group_accuracy_figure(groups, norm=norm), "")
    else:
        yield _Sketch("certified_accuracy", lambda: certified_accuracy_figure(summaries, norm=norm), "")
    yield from _of_votes(groups)
    members = over_members(summaries, models)
    yield _Sketch(
        "acr_over_members",
        (lambda: acr_over_number_figure(members, what="members of the ensemble", norm=norm))
        if members
        else None,
        f"{_ONE_NUMBER}, the number of members",
    )
    heads = over_heads(summaries, models)
    yield _Sketch(
        "acr_over_heads",
        (lambda: acr_over_number_figure(heads, what="heads of the network", norm=norm)) if heads else None,
        f"{_ONE_NUMBER}, the number of heads, which only model folders tell (--model)",
    )
    times = over_time(groups, models)
    yield _Sketch(
        "acr_over_training_time",
        (lambda: acr_over_time_figure(times, norm=norm)) if len(times) > 1 else None,
        "it needs models, two at least, certified under equal settings, whose folders tell the time of training "
        "(--model)",
        tuple(group.name for group in groups if group.name not in times),
    )
    pairs = predicting_pairs(summaries)
    yield _Sketch(
        "theory_and_observation", (lambda: theory_figure(pairs, norm=norm)) if pairs else None, _NO_PAIR
    )


def _of_gaps(gaps: Mapping[str, LogProbabilityGaps]) -> _Sketch:
    """Return the figure of what networks answer to noisy copies of one image."""
    draw = (lambda: noise_gap_figure(gaps)) if gaps else None
    return _Sketch(
        "log_probability_gap", draw, "it needs the data set and the models of runs, where they are at hand"
    )


def _of_votes(groups: Sequence[SeedGroup]) -> Iterator[_Sketch]:
    """Yield the figures that are made of votes, images of all seeds together."""
    known = [group for group in groups if all(one.run is not None for one in group.members)]
    pooled, without = (
        [group.pooled for group in known],
        tuple(g.name for g in groups if all(g is not one for one in known)),
    )
    drawings: dict[str, Callable[[], Figure]] = {
        "p_a": lambda: p_hat_figure(pooled),
        "votes": lambda: votes_figure(pooled),
        "vote_gap": lambda: vote_gap_figure(known),
    }
    if known and not any(_varies(one) for one in pooled):
        del drawings["votes"]
        yield _Sketch("votes", None, "every image of a run had equally many votes")
    for name, draw in drawings.items():
        yield _Sketch(name, draw if known else None, _NO_VOTES, without)


def _varies(summary: Summary) -> bool:
    return summary.samples is not None and len(set(summary.samples.tolist())) > 1
