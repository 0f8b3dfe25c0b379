"""Certify a data set into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import Procedure, SmoothedClassifier, check_subjects
from smoothcert.data import Dataset, TorchData
from smoothcert.execution import Execution, Limit, chosen_execution
from smoothcert.store import Run, opened
from smoothcert.workflows.order import Place
from smoothcert.workflows.settled import Settled, Wanted


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
    wanted = Wanted(procedure, alpha, seed, indices, engine, extends)
    with opened(folder, resume) as stored:  # before the first check, so that nobody works in vain
        run = Settled.of(classifier, dataset, wanted, stored, folder)
        place = Place(folder, stored, run.manifest)
        how: dict[str, Any] = {"batch_size": batch_size, "shown": show_progress, "limit": limit}
        return run.order.into(place, run.certification, where, **how)
