"""Certify the rows of a table; those with the same members share their forward passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smoothcert.amounts import amount
from smoothcert.certificates import Procedure, SmoothedClassifier, load_classifier
from smoothcert.data import Dataset
from smoothcert.ensembles import Panel
from smoothcert.folders import EnsembleCard, load_model, read_any_card
from smoothcert.noise import noise_from
from smoothcert.report import Summary
from smoothcert.store import FILE_NAME, Run, write_portable
from smoothcert.workflows.certify import certify
from smoothcert.workflows.certify_panel import certify_panel
from smoothcert.workflows.reproducing.kept import read_kept
from smoothcert.workflows.reproducing.model_places import ModelPlaces

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
        seed: of the noise.
        workers: threads; one per core by default.
        say: told in one line what is being done.
    """

    part: str
    places: ModelPlaces
    test: Dataset
    indices: Sequence[int]
    seed: int
    workers: int | None
    say: Callable[[str], None]

    def rows(self, jobs: Sequence[Job]) -> dict[str, Summary]:
        """Certify several classifiers and return their summaries by name."""
        ready = [job for job in jobs if self.places.kept(self.part, job.name).exists()]
        found = {job.name: self._alone(job) for job in ready}
        for group in _groups([job for job in jobs if job.name not in found]):
            if len(group) == 1:
                found[group[0].name] = self._alone(group[0])
            else:
                found |= self._together(group)
        return {job.name: found[job.name] for job in jobs}

    def _alone(self, job: Job) -> Summary:
        classifier = load_classifier(job.folder)
        kept = self._kept(job, classifier)
        if kept is not None:
            return Summary.of_run(kept, job.name)
        begun = (self.places.run(self.part, job.name) / FILE_NAME).exists()
        does = "what is left of" if begun else "certifying"
        self.say(f"{self.part} {job.name}: {does} {amount(len(self.indices), 'image')}")
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
        """Certify ensembles, the first of which has the members of all others, and members from the same passes."""
        names = [job.name for job in group]
        count = amount(len(self.indices), "image")
        self.say(f"{self.part} {', '.join(names)}: certifying {count} in the same passes")
        ensembles = [job for job in group if _is_ensemble(job)]
        loaded = [load_model(job.folder) for job in ensembles]
        card = loaded[0][1]
        alone = {_digests(job)[0]: job.name for job in group if not _is_ensemble(job)}
        members = [
            alone.get(digest, f"members-of-{names[0]}/{number}")
            for number, digest in enumerate(_digests(ensembles[0]))
        ]
        answers = [*members, *(job.name for job in ensembles)]
        panel = Panel([model for model, _ in loaded], answers)  # type: ignore[misc]
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
        data_dir = self.test.data_dir
        kept.places = {"model": job.folder, **({} if data_dir is None else {"data_dir": data_dir})}
        self.say(f"{self.part} {job.name}: certified before, {file}")
        return kept


def _groups(jobs: Sequence[Job]) -> list[list[Job]]:
    """Return the jobs, those together that can be answered by the same forward passes, the widest ensemble first."""
    left = sorted(jobs, key=lambda job: -len(set(_digests(job))))
    groups = []
    while left:
        widest, *others = left
        group = [widest]
        for job in others:
            is_twin = not _is_ensemble(job) and any(_digests(job) == _digests(one) for one in group)
            if _is_answered_by(widest, job) and not is_twin:  # a panel has one answer for each member
                group.append(job)
        groups.append(group)
        left = [job for job in left if job not in group]
    return groups


def _is_answered_by(widest: Job, job: Job) -> bool:
    """Tell whether the passes of an ensemble answer for another job, too."""
    if widest.is_alone or job.is_alone or not _is_ensemble(widest) or job.procedure != widest.procedure:
        return False
    return set(_digests(job)) <= set(_digests(widest))


def _is_ensemble(job: Job) -> bool:
    return isinstance(read_any_card(job.folder), EnsembleCard)


def _digests(job: Job) -> tuple[str, ...]:
    """Return what tells the members of an ensemble, in order, or a network."""
    card = read_any_card(job.folder)
    if isinstance(card, EnsembleCard):
        return tuple(entry.digest for entry in card.members)
    return (card.digest,)
