"""Certify the rows of a table; those with the same members share their forward passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smoothcert.certificates import FixedSample, Procedure, SmoothedClassifier, load_classifier
from smoothcert.data import Dataset
from smoothcert.ensembles import Panel
from smoothcert.folders import load_model, read_any_card
from smoothcert.noise import noise_from
from smoothcert.report import Summary
from smoothcert.store import FILE_NAME, Run, write_portable
from smoothcert.workflows.certify import certify
from smoothcert.workflows.certify_panel import certify_panel
from smoothcert.workflows.reproducing.kept import read_kept
from smoothcert.workflows.reproducing.model_places import ModelPlaces

_ENVELOPE = "members"
_ALPHA = 0.001  # of all published tables


@dataclass(frozen=True)
class Job:
    """One classifier to certify.

    Args:
        name: of its run.
        folder: of the classifier.
        procedure: how to spend votes.
        is_alone: whether it shares no pass with others, because its time is wanted.
    """

    name: str
    folder: Path
    procedure: Procedure
    is_alone: bool = False


@dataclass(frozen=True)
class Certifier:
    """Certifies the rows of one part. What is certified already is found again.

    Args:
        part: name of the part.
        places: where runs are.
        test: images.
        indices: which of them.
        votes: of rows that are no stages.
        seed: of the noise.
        workers: threads; one per core by default.
        say: told in one line what is being done.
    """

    part: str
    places: ModelPlaces
    test: Dataset
    indices: Sequence[int]
    votes: int
    seed: int
    workers: int | None
    say: Callable[[str], None]

    def rows(self, jobs: Sequence[Job]) -> dict[str, Summary]:
        """Certify several classifiers and return their summaries by name."""
        found: dict[str, Summary] = {}
        for group in _groups(jobs):
            if len(group) == 1:
                found[group[0].name] = self._alone(group[0])
            else:
                found |= self._together(group)
        return {job.name: found[job.name] for job in jobs}

    def members(self, folders: dict[str, Path]) -> tuple[Summary, ...]:
        """Certify the members of an envelope, each alone, and return their summaries."""
        jobs = [
            Job(f"{_ENVELOPE}/{name}", folder, FixedSample(n=self.votes)) for name, folder in folders.items()
        ]
        return tuple(self._alone(job) for job in jobs)

    def _alone(self, job: Job) -> Summary:
        classifier = load_classifier(job.folder)
        kept = self._kept(job, classifier)
        if kept is not None:
            return Summary.of_run(kept, job.name)
        self.say(f"{self.part} {job.name}: certifying {len(self.indices)} images")
        run = certify(
            classifier,
            self.test,
            procedure=job.procedure,
            alpha=_ALPHA,
            seed=self.seed,
            indices=self.indices,
            workers=self.workers,
            out=self.places.run(self.part, job.name),
            resume=True,
            show_progress=True,
        )
        self._keep(job.name, run)
        return Summary.of_run(run, job.name)

    def _together(self, group: Sequence[Job]) -> dict[str, Summary]:
        """Certify ensembles of the same members from the same forward passes."""
        names = [job.name for job in group]
        kept = {job.name: self._kept(job, load_classifier(job.folder)) for job in group}
        found = {name: Summary.of_run(run, name) for name, run in kept.items() if run is not None}
        if len(found) == len(group):
            return found
        self.say(f"{self.part} {', '.join(names)}: certifying {len(self.indices)} images in the same passes")
        loaded = [load_model(job.folder) for job in group]
        card = loaded[0][1]
        members = [f"{_ENVELOPE}-of-{names[0]}/{n}" for n in range(len(_member_digests(group[0].folder)))]
        panel = Panel([model for model, _ in loaded], [*members, *names])  # type: ignore[misc]
        runs = certify_panel(
            SmoothedClassifier(panel, noise_from(dict(card.noise)), card.num_classes),
            self.test,
            outs={name: self.places.run(self.part, name) for name in panel.names},
            procedure=group[0].procedure,
            alpha=_ALPHA,
            seed=self.seed,
            indices=self.indices,
            workers=self.workers,
            resume=True,
            show_progress=True,
            folders={job.name: job.folder for job in group},
        )
        for name in names:
            self._keep(name, runs[name])
        return {name: Summary.of_run(runs[name], name) for name in names}

    def _keep(self, name: str, run: Run) -> None:
        """Write a finished run once more, without its votes: small enough to stay with a project."""
        if run.is_complete:
            write_portable(self.places.run(self.part, name), self.places.kept(self.part, name))
        else:
            self.say(f"{self.part} {name}: not kept, because the model failed on some images")

    def _kept(self, job: Job, classifier: SmoothedClassifier) -> Run | None:
        """Return the certificates of a row whose run is gone but was kept; refuse those of another row."""
        file = self.places.kept(self.part, job.name)
        if (self.places.run(self.part, job.name) / FILE_NAME).exists() or not file.exists():
            return None
        terms: dict[str, Any] = {"procedure": job.procedure, "alpha": _ALPHA, "seed": self.seed}
        kept = read_kept(file, classifier, self.test, list(self.indices), **terms)
        kept.places = {"model": job.folder}
        self.say(f"{self.part} {job.name}: certified before, {file}")
        return kept


def _groups(jobs: Sequence[Job]) -> list[list[Job]]:
    """Return the jobs, those together that can be answered by the same forward passes."""
    groups: dict[object, list[Job]] = {}
    for job in jobs:
        digests = _member_digests(job.folder)
        key = (digests, repr(job.procedure)) if digests and not job.is_alone else job.name
        groups.setdefault(key, []).append(job)
    return list(groups.values())


def _member_digests(folder: Path) -> tuple[str, ...]:
    """Return what tells the members of an ensemble, in order; empty for a network."""
    card = read_any_card(folder)
    return tuple(entry.digest for entry in getattr(card, "members", ()))
