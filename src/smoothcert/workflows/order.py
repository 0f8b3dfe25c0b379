"""Images that are to be certified, checked and then drawn: the one place where running and storing meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from smoothcert.certificates import (
    Certification,
    PanelCertification,
    SmoothedClassifier,
    check_images,
    check_match,
    reach_before,
)
from smoothcert.data import Dataset, check_indices
from smoothcert.ensembles import refuse_overlap
from smoothcert.errors import EngineDisagreementError, UnsoundModelError
from smoothcert.execution import Execution, Limit, certify_images
from smoothcert.progress import progress, tell
from smoothcert.sampling import COMPARED_CHUNKS, check_batch_size
from smoothcert.store import PanelWriter, Run, RunWriter, begin, origin_of


@dataclass(frozen=True)
class Pace:
    """Where to draw, and how many rows at a time; no vote depends on it."""

    execution: Execution
    batch_size: int


@dataclass(frozen=True)
class Place:
    """Where a run is kept.

    Args:
        folder: of it, held by this process; None for memory.
        stored: the manifest of a run to continue; None for a new one.
        manifest: of the run.
        noted: what is noted beside the places of model and data.
    """

    folder: Path | None
    stored: dict[str, Any] | None
    manifest: dict[str, Any]
    noted: Mapping[str, str] = field(default_factory=dict)


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
        place: Place,
        certification: Certification,
        execution: Execution,
        *,
        batch_size: int | None,
        shown: bool | None,
        limit: Limit,
    ) -> Run:
        """Certify into a run folder, or into memory, and return the run; nothing is written before all is checked."""
        pace = self.checked(certification, execution, batch_size)
        origin = origin_of(place.folder, self.classifier.folder, self.dataset, self.classifier.weights)
        with execution:  # before anything is written
            database = begin(place.folder, place.stored, place.manifest, {**origin, **place.noted})
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
