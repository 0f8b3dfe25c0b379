"""Certify a data set into a run folder: the one place where running and storing meet."""

from __future__ import annotations

from collections.abc import Sequence
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
from smoothcert.execution import Execution, certify_images, chosen_execution
from smoothcert.progress import progress
from smoothcert.sampling import COMPARED_CHUNKS, check_batch_size
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
    execution: Execution | None = None,
) -> Run:
    """Certify images of a data set and return the run.

    Nothing is written before the arguments, the model and every image have been checked.

    Args:
        classifier: what to certify.
        dataset: images and labels; a data set or a loader of torch is read whole first (`Dataset.from_torch`).
        procedure: how to spend votes; CERTIFY with 100 + 100,000 by default.
        alpha: error probability per image, one-sided.
        seed: None draws a secret one and records it; on resume the recorded one is used.
        indices: images of the data set; all by default.
        engine: "auto" or the name of an engine.
        workers: threads; one per core by default. Not beside `execution`, which says it itself.
        batch_size: most rows per forward pass; does not change any vote.
        out: run folder; None keeps the run in memory.
        resume: continue the run in `out`, or start it if there is none.
        show_progress: None shows it on a terminal only.
        execution: where votes are drawn, such as RayExecution(); on threads here by default. Changes no vote.
    """
    where = chosen_execution(execution, workers)
    dataset = check_subjects(classifier, dataset)
    check_kind("engine", engine, str, "the name of an engine, or auto")
    folder = None if out is None else check_path("out", out)
    with hold(folder), ExitStack() as stack:  # before the first check, so that nobody works in vain
        stored = stored_manifest(folder, resume)
        seed, engine = left_open(stored, seed, engine)
        order = Order.of(classifier, dataset, indices)
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
        if stored is not None:
            check_same(stored, manifest, str(folder))
        pace = order.checked(certification, where, batch_size)
        reach = reach_before(certification)
        places = origin_of(folder, classifier.folder, dataset, classifier.weights)
        stack.enter_context(where)  # before anything is written
        database = begin(folder, stored, manifest, places)
        try:
            writer = RunWriter(database, dataset)
            order.run(certification, writer, pace, show_progress)
            run = Run.read(database, "run" if folder is None else folder.name, reach)
        except BaseException:
            database.close()
            raise
        database.close(finished=True)
        return run


def left_open(stored: dict[str, Any] | None, seed: int | None, engine: str) -> tuple[int | None, str]:
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
        if classifier.fitted:
            refuse_overlap(classifier, dataset, chosen)
        return cls(classifier, dataset, chosen, check_images(classifier, dataset, chosen))

    def checked(
        self,
        source: Certification | PanelCertification,
        execution: Execution,
        batch_size: int | None,
    ) -> Pace:
        """Check the model by its first votes."""
        pace = Pace(execution, check_batch_size(batch_size, self.example, source.engine))
        others = self.chosen[1:COMPARED_CHUNKS]
        some = {index: self.classifier.check_image(self.dataset.image(index)) for index in others}
        source.check({self.chosen[0]: self.example, **some}, batch_size=pace.batch_size)
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
                    pool=pace.execution.pool(certification, pace.batch_size),
                    batch_size=pace.batch_size,
                    saved=writer.saved,
                    show=show,
                )
        except (EngineDisagreementError, UnsoundModelError):
            writer.withdraw()
            raise
