"""Certify a data set into a run folder: the one place where running and storing meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import (
    Certification,
    FixedSample,
    PanelCertification,
    Procedure,
    SmoothedClassifier,
    check_images,
    check_match,
    check_subjects,
    reach_before,
)
from smoothcert.data import Dataset, TorchData, check_indices
from smoothcert.ensembles import refuse_overlap
from smoothcert.errors import EngineDisagreementError, UnsoundModelError
from smoothcert.execution import Execution, Limit, certify_images, chosen_execution
from smoothcert.progress import progress, tell
from smoothcert.sampling import COMPARED_CHUNKS, check_batch_size
from smoothcert.store import (
    PanelWriter,
    Run,
    RunDatabase,
    RunWriter,
    begin,
    check_same,
    hold,
    make_manifest,
    origin_of,
    refuse_other_share,
    stored_manifest,
)
from smoothcert.workflows.extension import Extension
from smoothcert.workflows.normalisation import warn_normalisation


def certify(
    classifier: SmoothedClassifier,
    dataset: Dataset | TorchData,
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
    extends: str | Path | None = None,
    max_votes: int | None = None,
    max_minutes: float | None = None,
    execution: Execution | None = None,
) -> Run:
    """Certify images of a data set and return the run.

    Nothing is written before the arguments, the model and every image have been checked. An image on which the model
    raises an error, or answers with no number, is among `Run.failures` and counts as not certified; an error that it
    raises on an image that it answered before stops the run.

    Args:
        classifier: what to certify.
        dataset: images and labels; a data set or a loader of torch is read whole first (`Dataset.from_torch`).
        procedure: how to spend votes; CERTIFY with 100 + 100,000 by default.
        alpha: error probability per image, one-sided.
        seed: None draws a secret one and records it; on resume the recorded one is used.
        indices: images of the data set; all by default.
        engine: the name of an engine, or "auto", the fastest one for a long job; on resume the recorded one.
        workers: threads; one per core by default. Not beside `execution`, which says it itself.
        batch_size: most rows per forward pass; does not change any vote.
        out: run folder; None keeps the run in memory.
        resume: continue the run in `out`, or start it if there is none.
        show_progress: None shows it on a terminal only.
        extends: a run folder whose seed and engine are used for images that it does not have, to be merged with it.
        max_votes: stop in good order after about so many; a stored run continues with resume.
        max_minutes: likewise.
        execution: where votes are drawn, such as RayExecution(); on threads here by default. Changes no vote.
    """
    where = chosen_execution(execution, workers)
    dataset = check_subjects(classifier, dataset)
    check_kind("engine", engine, str, "the name of an engine, or auto")
    folder, limit = None if out is None else check_path("out", out), Limit(max_votes, max_minutes)
    with hold(folder), ExitStack() as stack:  # before the first check, so that nobody works in vain
        stored = stored_manifest(folder, resume)
        refuse_other_share(folder, stored, None)
        older = None if extends is None else Extension.of(extends)
        seed, engine = left_open(stored if older is None else older.manifest, seed, engine)
        order = Order.of(classifier, dataset, indices if older is None else older.further(dataset, indices))
        warn_normalisation(classifier, dataset, order.chosen)
        certification = classifier.certification(
            FixedSample() if procedure is None else procedure,
            alpha=alpha,
            seed=seed,
            engine=engine,
            example=order.example,
            images=len(order.chosen),
        )
        manifest = make_manifest(certification, dataset, order.chosen)
        if older is not None:
            older.check(manifest)
        if stored is not None:
            check_same(stored, manifest, str(folder))
        pace = order.checked(certification, where, batch_size)
        places = origin_of(folder, classifier.folder, dataset, classifier.weights)
        stack.enter_context(where)  # before anything is written
        database = begin(folder, stored, manifest, places)
        return order.into(database, certification, pace, show_progress, limit)


def left_open(stored: Mapping[str, Any] | None, seed: int | None, engine: str) -> tuple[int | None, str]:
    """Return seed and engine; what the user left open stays as a stored run has it."""
    if stored is None:
        return seed, engine
    return int(stored["seed"]) if seed is None else seed, stored["engine"] if engine == "auto" else engine


@dataclass(frozen=True)
class Pace:
    """Where to draw, and how many rows at a time; no vote depends on it."""

    execution: Execution
    batch_size: int


@dataclass(frozen=True)
class Order:
    """What is to be certified, every image of it checked.

    Args:
        classifier: what to certify, or a panel.
        dataset: images and labels.
        chosen: which of them.
        first: the image by which the model is probed: the first of the run, or of the plan that they are a share of.
        example: that image.
    """

    classifier: SmoothedClassifier
    dataset: Dataset
    chosen: Sequence[int]
    first: int
    example: torch.Tensor

    @classmethod
    def of(
        cls,
        classifier: SmoothedClassifier,
        dataset: Dataset,
        indices: Sequence[int] | None,
        first: int | None = None,
    ) -> Order:
        """Check everything about classifier and images that needs no vote."""
        chosen = check_indices(dataset, indices)
        check_match(classifier, dataset, chosen)
        if classifier.fitted:
            refuse_overlap(classifier, dataset, chosen)
        example = check_images(classifier, dataset, chosen)
        if first is None or first == chosen[0]:
            return cls(classifier, dataset, chosen, chosen[0], example)
        check_indices(dataset, [first])
        return cls(classifier, dataset, chosen, first, classifier.check_image(dataset.image(first)))

    def checked(
        self,
        source: Certification | PanelCertification,
        execution: Execution,
        batch_size: int | None,
    ) -> Pace:
        """Check the model by its first votes."""
        pace = Pace(execution, check_batch_size(batch_size, self.example, source.engine))
        others = [index for index in self.chosen[:COMPARED_CHUNKS] if index != self.first]
        some = {index: self.classifier.check_image(self.dataset.image(index)) for index in others}
        source.check({self.first: self.example, **some}, batch_size=pace.batch_size)
        return pace

    def into(
        self,
        database: RunDatabase,
        certification: Certification,
        pace: Pace,
        shown: bool | None,
        limit: Limit,
    ) -> Run:
        """Certify into a run's database, which is closed in the end, and return the run."""
        try:
            reach = reach_before(certification)
            stopped = self.run(certification, RunWriter(database, self.dataset), pace, shown, limit)
            name = "run" if database.folder is None else database.folder.name
            run = Run.read(database, name, reach)
        except BaseException:
            database.close()
            raise
        database.close(finished=not stopped)
        return run

    def run(
        self,
        certification: Any,
        writer: RunWriter | PanelWriter,
        pace: Pace,
        shown: bool | None,
        limit: Limit,
    ) -> bool:
        """Certify what the run folders do not hold yet; return whether the limit was reached before the end."""
        left = [index for index in self.chosen if index not in writer.done]
        tell(f"engine {certification.engine_told}", shown=shown)
        try:
            with progress("certifying", len(left), shown=shown) as show:
                return certify_images(
                    certification,
                    self.dataset,
                    left,
                    writer,
                    pool=pace.execution.pool(certification, pace.batch_size),
                    batch_size=pace.batch_size,
                    saved=writer.saved,
                    show=show,
                    limit=limit,
                )
        except (EngineDisagreementError, UnsoundModelError):
            writer.withdraw()
            raise
