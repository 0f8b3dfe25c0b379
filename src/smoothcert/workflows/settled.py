"""What a run is to be, settled before its first vote: images, seed, engine and manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smoothcert.certificates import (
    Certification,
    FixedSample,
    Procedure,
    SmoothedClassifier,
    identities,
)
from smoothcert.data import Dataset
from smoothcert.errors import SmoothcertError
from smoothcert.store import check_same, make_manifest
from smoothcert.workflows.extension import Extension
from smoothcert.workflows.normalisation import warn_normalisation
from smoothcert.workflows.order import Order

Manifest = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What a user asks of a run, beside classifier and images; arguments as for `certify`."""

    procedure: Procedure | None
    alpha: float
    seed: int | None
    indices: Sequence[int] | None
    engine: str
    extends: str | Path | None = None

    def terms(self, order: Order, known: Manifest | None) -> dict[str, Any]:
        """Return the arguments of a certification; what the user left open stays as a known run has it.

        Args:
            order: the images.
            known: manifest of the run that is continued or extended; None for a new one.
        """
        seed, engine = self.seed, self.engine
        if known is not None:
            seed = int(known["seed"]) if seed is None else seed
            engine = known["engine"] if engine == "auto" else engine
        return {
            "procedure": FixedSample() if self.procedure is None else self.procedure,
            "alpha": self.alpha,
            "seed": seed,
            "engine": engine,
            "example": order.example,
            "images": len(order.chosen),
        }


@dataclass(frozen=True)
class Settled:
    """A run before its first vote.

    Args:
        order: its images.
        certification: its classifier, procedure, seed and engine.
        manifest: what identifies it.
    """

    order: Order
    certification: Certification
    manifest: dict[str, Any]

    @classmethod
    def of(
        cls,
        classifier: SmoothedClassifier,
        dataset: Dataset,
        wanted: Wanted,
        stored: dict[str, Any] | None,
        folder: Path | None,
    ) -> Settled:
        """Check everything that needs no vote, and make the engine.

        Args:
            classifier: what to certify.
            dataset: images and labels.
            wanted: all else.
            stored: the manifest of a run to continue, which has to be this one; None for a new run.
            folder: of that run.
        """
        older = None if wanted.extends is None else Extension.of(wanted.extends)
        indices = wanted.indices if older is None else older.further(dataset, wanted.indices)
        order = Order.of(classifier, dataset, indices)
        warn_normalisation(classifier, dataset, order.chosen)
        with telling_other_model(classifier, [(str(folder), stored)]):
            terms = wanted.terms(order, stored if older is None else older.manifest)
            certification = classifier.certification(**terms)
        manifest = make_manifest(certification, dataset, order.chosen)
        if older is not None:
            older.check(manifest)
        if stored is not None:
            check_same(stored, manifest, str(folder))
        return cls(order, certification, manifest)


@contextmanager
def telling_other_model(
    classifier: SmoothedClassifier, runs: Sequence[tuple[str, Manifest | None]], doing: str = "resume"
) -> Iterator[None]:
    """Say of an engine that does not run a model that the stored run is of another model, where it is.

    A run keeps to its engine, so the engine of a run by another model may well not run this one; that is no fault of
    the engine.

    Args:
        classifier: whose engine is made meanwhile.
        runs: where each is and its manifest, one per answer of the model; None for a new run.
        doing: what cannot be done with the run.
    """
    try:
        yield
    except SmoothcertError:
        for (where, stored), model in zip(runs, identities(classifier.model), strict=False):
            if stored is not None:
                check_same({"model": stored["model"]}, {"model": model}, where, doing)
        raise
