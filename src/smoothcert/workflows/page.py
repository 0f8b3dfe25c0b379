"""A page about runs and logs by their paths: what they were made from is looked for, and shown where it is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from smoothcert.arguments import check_path, check_whole
from smoothcert.atomic import check_target
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError, SmoothcertError
from smoothcert.networks import multiply_adds_of
from smoothcert.noise import noise_from
from smoothcert.report import Summary, find_folders, folder_of, read_folders, time_reference, write_report
from smoothcert.store import Run, read_attack
from smoothcert.theory import LogProbabilityGaps, log_probability_gaps
from smoothcert.workflows.auditing.parts import find_classifier, find_dataset
from smoothcert.workflows.auditing.report import AuditReport

_COPIES = 10_000  # as in the papers
_LEAST_COPIES = 64
_AFFORDED = 4e10  # multiply-adds for the gaps of one run: a second or two


@dataclass(frozen=True)
class PageParts:
    """What a page shows beside its runs. Nothing here is part of a certificate.

    Args:
        title: heading; the names of the runs by default.
        dataset: name or path of the data set, for the gallery; by default where the main run says it was.
        data_dir: folder of its files.
        attack: folder of an attack on the main run.
        against: run of CERTIFY to compare time with.
        models: model folders, to say how they were trained; by default where the runs say they were.
        images: whether to show images at all.
        gap_image: place of the image for the histogram of log-probability gaps; one of median radius by default.
        gap_copies: noisy copies for it; by default as many as take about a second, at most 10,000; 0 for none.
        radii: where tables read certified accuracy, in pixel units; some that suit all runs by default.
    """

    title: str | None = None
    dataset: str | None = None
    data_dir: Path | None = None
    attack: Path | None = None
    against: Path | None = None
    models: Sequence[Path] = ()
    images: bool = True
    gap_image: int | None = None
    gap_copies: int | None = None
    radii: Sequence[float] | None = None


@dataclass(frozen=True)
class Material:
    """What was found beside the runs themselves.

    Args:
        dataset: of the main run; None where it is not at hand.
        gaps: log-probability gaps of one image, by the names of the runs whose model is at hand.
    """

    dataset: Dataset | None = None
    gaps: Mapping[str, LogProbabilityGaps] = field(default_factory=dict)


NOTHING_FOUND = Material()


def find_material(summaries: Sequence[Summary], parts: PageParts, tell: Callable[[str], None]) -> Material:
    """Look for the data set and the models of runs where they say these were, or where `parts` says.

    They are used only if their digests are the runs', and code of the user's own is not run.

    Args:
        summaries: runs and logs, the last of them the main one.
        parts: what is wanted of them.
        tell: called with a sentence for each thing that is not at hand.
    """
    if not summaries[-1].images:
        raise InvalidArgumentError(f"{summaries[-1].name} has no finished image yet; continue it with resume")
    dataset = _dataset(summaries[-1], parts, tell)
    return Material(dataset, {} if dataset is None else _gaps(summaries, dataset, parts, tell))


def write_page(summaries: Sequence[Summary], path: str | Path, parts: PageParts, found: Material) -> None:
    """Write one page about runs and logs, the last of them the main one.

    Args:
        summaries: with the names to show; see `Summary.of_path`.
        path: the file to write, whole or not at all.
        parts: what else is shown.
        found: what `find_material` returned.
    """
    write_report(
        {summary.name: summary for summary in summaries},
        check_page(path),
        title=parts.title or _title(summaries),
        dataset=found.dataset if parts.images else None,
        attack=None if parts.attack is None else read_attack(parts.attack),
        models=_models(summaries, parts),
        gaps=found.gaps,
        radii=parts.radii,
        reference=None if parts.against is None else time_reference(parts.against),
    )


def check_page(path: str | Path) -> Path:
    """Return the place of a page; refuse one where none can be written, or where it would replace something else."""
    file = check_path("path", path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise InvalidArgumentError(
            f"--out must end in .html, so that a page replaces no run, log or table, got {file}"
        )
    if file.is_dir():
        raise InvalidArgumentError(
            f"--out must be a file to write, such as {file / 'report.html'}, got the folder {file}"
        )
    check_target(file)
    return file


def _title(summaries: Sequence[Summary]) -> str:
    names = [summary.name for summary in summaries]
    return ", ".join(names) if len(names) <= 4 else f"{names[-1]} and {len(names) - 1} others"


def _dataset(summary: Summary, parts: PageParts, tell: Callable[[str], None]) -> Dataset | None:
    """Return the data set of the main run; None with a sentence where there is none to be found."""
    if summary.run is None:
        if parts.dataset is not None:
            raise InvalidArgumentError(
                f"--dataset shows images of the last run, and {summary.name} is a log; leave it out"
            )
        return None
    if not parts.images and parts.gap_copies == 0:
        return None
    report = AuditReport(summary.name)
    places = {name: str(place) for name, place in summary.run.places.items()}
    found = find_dataset(summary.manifest, Path(), places, parts.dataset, parts.data_dir, report)
    if found is None:
        reason = report.findings[0] if report.findings else report.notes[-1]
        tell(f"no images of {summary.name} are shown: {reason}")
    return found


def _models(summaries: Sequence[Summary], parts: PageParts) -> dict[str, Path]:
    """Return the model folders by the names of their runs, of copies the first; refuse what is of none of the runs."""
    folders = find_folders(parts.models, summaries)
    found = {one.name: home for one in summaries if (home := folder_of(one, folders)) is not None}
    certified = {home.card.digest for home in found.values()}
    for folder in parts.models:
        if certified.isdisjoint(read_folders([folder])):
            raise InvalidArgumentError(
                f"--model {folder} is the model of none of the runs; give the folder that was certified"
            )
    return {name: home.path for name, home in found.items()}


def _gaps(
    summaries: Sequence[Summary], dataset: Dataset, parts: PageParts, tell: Callable[[str], None]
) -> Mapping[str, LogProbabilityGaps]:
    """Return the log-probability gaps of one image for each run of the data set whose model is at hand."""
    if parts.gap_copies == 0:
        return {}
    if parts.gap_copies is not None:
        check_whole("--gap-copies", parts.gap_copies, 1)
    index = _gap_image(summaries[-1], dataset, parts.gap_image)
    image, label, gaps = dataset.image(index), int(dataset.labels[index]), {}
    for summary in summaries:
        if summary.run is None or summary.manifest["dataset"]["digest"] != dataset.digest:
            continue
        model = _model(summary, summary.run, tell)
        if model is None:
            continue
        noise = noise_from(dict(summary.manifest["noise"])).for_shape(dataset.input_shape)
        copies = _copies(model, image) if parts.gap_copies is None else parts.gap_copies
        gaps[summary.name] = log_probability_gaps(model, noise, image, label, copies=copies, index=index)
    return gaps


def _gap_image(main: Summary, dataset: Dataset, asked: int | None) -> int:
    if asked is not None:
        check_whole("--gap-image", asked, 0, len(dataset) - 1)
        return asked
    results = main.results
    certified = np.flatnonzero(results.correct)
    if not len(certified):
        return int(results.index[0])
    order = certified[np.argsort(results.radius[certified], kind="stable")]
    return int(results.index[order[len(order) // 2]])


def _model(summary: Summary, run: Run, tell: Callable[[str], None]) -> torch.nn.Module | None:
    report = AuditReport(summary.name)
    places = {name: str(place) for name, place in run.places.items()}
    noise = noise_from(dict(run.manifest["noise"]))
    try:
        classifier = find_classifier(run.manifest, noise, Path(), places, None, report)
    except SmoothcertError as error:
        tell(f"{summary.name} has no histogram of log-probability gaps: {error}")
        return None
    if classifier is None or not isinstance(classifier.model, torch.nn.Module):
        reasons = [*map(str, report.findings), *report.notes, "its model is no torch module"]
        tell(f"{summary.name} has no histogram of log-probability gaps: {reasons[0]}")
        return None
    return classifier.model


def _copies(model: torch.nn.Module, image: torch.Tensor) -> int:
    """Return how many noisy copies are asked about, so that a page takes seconds whatever the network."""
    cost = multiply_adds_of(model, image)
    afforded = _AFFORDED / cost if cost else 10 * _LEAST_COPIES
    return int(min(max(afforded, _LEAST_COPIES), _COPIES))
