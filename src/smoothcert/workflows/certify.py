"""Certify a data set into a run folder: the one place where running and storing meet."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import (
    Certification,
    FixedSample,
    PanelCertification,
    Plan,
    Procedure,
    Reach,
    SmoothedClassifier,
    asked_radii,
    check_match,
    check_subjects,
)
from smoothcert.data import Dataset, check_indices
from smoothcert.ensembles import refuse_overlap
from smoothcert.errors import EngineDisagreementError, SmoothcertError, UnsoundModelError
from smoothcert.execution import certify_images
from smoothcert.progress import progress
from smoothcert.sampling import COMPARED_CHUNKS, check_batch_size, check_workers
from smoothcert.store import (
    PanelWriter,
    Run,
    RunWriter,
    begin,
    check_same,
    hold,
    make_manifest,
    origin_of,
    stored_manifest,
)

_log = logging.getLogger("smoothcert")


def certify(
    classifier: SmoothedClassifier,
    dataset: Dataset,
    *,
    procedure: Procedure | None = None,
    alpha: float = 0.001,
    seed: int | None = None,
    indices: Sequence[int] | None = None,
    engine: str = "auto",
    workers: int | None = None,
    batch_size: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    show_progress: bool | None = None,
) -> Run:
    """Certify images of a data set and return the run.

    Nothing is written before the arguments, the model and every image have been checked.

    Args:
        classifier: what to certify.
        dataset: images and labels.
        procedure: how to spend votes; CERTIFY with 100 + 100,000 by default.
        alpha: error probability per image, one-sided.
        seed: None draws a secret one and records it; on resume the recorded one is used.
        indices: images of the data set; all by default.
        engine: "auto" or the name of an engine.
        workers: threads; one per core by default.
        batch_size: most rows per forward pass; does not change any vote.
        out: run folder; None keeps the run in memory.
        resume: continue the run in `out`, or start it if there is none.
        show_progress: None shows it on a terminal only.
    """
    check_subjects(classifier, dataset)
    check_kind("engine", engine, str, "the name of an engine, or auto")
    folder = None if out is None else check_path("out", out)
    with hold(folder):  # before the first check, so that nobody works in vain
        stored = stored_manifest(folder, resume)
        order = Order.of(classifier, dataset, indices)
        how = order.settings(stored, procedure=procedure, alpha=alpha, seed=seed, engine=engine)
        certification = classifier.certification(**how)
        manifest = make_manifest(certification, dataset, order.chosen)
        if stored is not None:
            check_same(stored, manifest, str(folder))
        pace = order.checked(certification, certification.plan, certification.procedure, workers, batch_size)
        database = begin(folder, stored, manifest, origin_of(folder, classifier.folder, dataset))
        try:
            writer = RunWriter(database, dataset)
            order.run(certification, writer, pace, show_progress)
            run = Run.read(database, "run" if folder is None else folder.name)
        except BaseException:
            database.close()
            raise
        database.close(finished=True)
        return run


@dataclass(frozen=True)
class Pace:
    """How fast to draw; no vote depends on it."""

    workers: int
    batch_size: int


@dataclass(frozen=True)
class Order:
    """What is to be certified, every image of it checked.

    Args:
        classifier: what to certify, or a panel.
        dataset: images and labels.
        chosen: which of them.
        example: the first of them.
    """

    classifier: SmoothedClassifier
    dataset: Dataset
    chosen: Sequence[int]
    example: torch.Tensor

    @classmethod
    def of(cls, classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int] | None) -> Order:
        """Check everything about classifier and images that needs no vote."""
        chosen = check_indices(dataset, indices)
        check_match(classifier, dataset, chosen)
        refuse_overlap(classifier, dataset, chosen)
        return cls(classifier, dataset, chosen, _check_images(classifier, dataset, chosen))

    def settings(
        self,
        stored: dict[str, Any] | None,
        *,
        procedure: Procedure | None,
        alpha: float,
        seed: int | None,
        engine: str,
    ) -> dict[str, Any]:
        """Return the arguments of a certification; what the user left open stays as a stored run has it."""
        if stored is not None:
            seed = int(stored["seed"]) if seed is None else seed
            engine = stored["engine"] if engine == "auto" else engine
        return {
            "procedure": FixedSample() if procedure is None else procedure,
            "alpha": alpha,
            "seed": seed,
            "engine": engine,
            "example": self.example,
            "images": len(self.chosen),
        }

    def checked(
        self,
        source: Certification | PanelCertification,
        plan: Plan,
        procedure: dict[str, Any],
        workers: int | None,
        batch_size: int | None,
    ) -> Pace:
        """Check the model by its first votes, and say what it could not prove anyway."""
        pace = Pace(check_workers(workers), check_batch_size(batch_size, self.example, source.engine))
        others = self.chosen[1:COMPARED_CHUNKS]
        some = {index: self.classifier.check_image(self.dataset.image(index)) for index in others}
        source.check({self.chosen[0]: self.example, **some}, batch_size=pace.batch_size)
        _warn_of_radii_out_of_reach(plan, procedure)
        return pace

    def run(
        self, certification: Any, writer: RunWriter | PanelWriter, pace: Pace, shown: bool | None
    ) -> None:
        """Certify what the run folders do not hold yet."""
        left = [index for index in self.chosen if index not in writer.done]
        try:
            with progress("certifying", len(left), shown=shown) as show:
                certify_images(
                    certification,
                    self.dataset,
                    left,
                    writer,
                    workers=pace.workers,
                    batch_size=pace.batch_size,
                    saved=writer.saved,
                    show=show,
                )
        except (EngineDisagreementError, UnsoundModelError):
            writer.withdraw()
            raise


def _warn_of_radii_out_of_reach(plan: Plan, procedure: dict[str, Any]) -> None:
    """Say so before the first vote where even unanimous votes could not prove what is asked."""
    asked = asked_radii(procedure)
    if asked is None:
        return
    reach = Reach(plan.largest_radius, asked)
    if not reach.proves_all:
        most = "no radius" if reach.largest is None else f"at most {reach.largest:.4g}"
        _log.warning(
            "radius %g cannot be proven with these votes, whatever they are (%s can); take more (n)",
            asked[-1],
            most,
        )


def _check_images(classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]) -> torch.Tensor:
    """Check every image and return the first."""
    for index in indices:
        try:
            image = classifier.check_image(dataset.image(index))
        except SmoothcertError as error:
            raise type(error)(f"image {index} of {dataset.name}: {error}") from error
        if index == indices[0]:
            first = image
    return first
