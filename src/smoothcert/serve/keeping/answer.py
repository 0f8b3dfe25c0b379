"""A certificate as the service tells it: the same whether it was just made or is read from its run folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from smoothcert.certificates import Certificate, Outcome
from smoothcert.store import RunDatabase, plain

FINISHED, STOPPED, RUNNING = "finished", "stopped", "running"


@dataclass(frozen=True)
class Answer:
    """What is told about a certificate. Not its seed, which stays in the run folder.

    Args:
        name: of the certificate.
        identity: of the model.
        image: digest of the image.
        outcome: name of the outcome.
        predicted: the class, or None on abstention.
        radius: certified, in pixel units.
        p_lower: that the radius rests on.
        samples: votes drawn.
        votes: counts by class at the last deciding look of each stream.
        terms: alpha, norm, noise, procedure and engine.
        class_names: of the model's classes.
    """

    name: str
    identity: str
    image: str
    outcome: str
    predicted: int | None
    radius: float
    p_lower: float
    samples: int
    votes: dict[str, list[int]]
    terms: dict[str, Any]
    class_names: tuple[str, ...]

    @classmethod
    def of(cls, name: str, certificate: Certificate, image: str, class_names: Sequence[str]) -> Answer:
        """Tell a certificate that was just made."""
        terms = {field: getattr(certificate, field) for field in _TERMS}
        return cls(
            name=name,
            identity=certificate.model,
            image=image,
            outcome=certificate.outcome.name,
            predicted=certificate.predicted,
            radius=float(certificate.radius),
            p_lower=float(certificate.p_lower),
            samples=certificate.samples,
            votes={tally.phase: tally.counts.votes.tolist() for tally in certificate.tallies},
            terms=plain(terms),
            class_names=tuple(class_names),
        )

    @classmethod
    def stored(cls, name: str, database: RunDatabase) -> Answer | None:
        """Tell what a run folder of one image holds; None if it holds no certificate yet."""
        manifest = database.checked_manifest()
        columns = "outcome, predicted, radius, p_lower, samples"
        rows = [] if manifest is None else database.rows(f"SELECT {columns} FROM certificates LIMIT 1")
        if manifest is None or not rows:
            return None
        outcome, predicted, radius, p_lower, samples = rows[0]
        counts = database.rows("SELECT phase, votes FROM counts ORDER BY position")
        return cls(
            name=name,
            identity=manifest["model"],
            image=manifest["dataset"]["name"].removesuffix(".npz"),
            outcome=outcome,
            predicted=predicted,
            radius=radius,
            p_lower=p_lower,
            samples=samples,
            votes={phase: json.loads(votes) for phase, votes in counts},
            terms={field: manifest[field] for field in _TERMS},
            class_names=tuple(manifest["class_names"][: manifest["num_classes"]]),
        )

    def called(self, class_names: Sequence[str]) -> Answer:
        """Return the answer with the names of the model that is asked, which may be another's of the same weights."""
        return replace(self, class_names=tuple(class_names))

    def told(self, model: str | None, status: str, *, repeated: bool) -> dict[str, Any]:
        """Return the answer as plain values.

        Args:
            model: name under which the model is served; None if it no longer is.
            status: `FINISHED`, `STOPPED` or `RUNNING`.
            repeated: whether it was there before it was asked for.
        """
        return {
            "certificate": self.name,
            "status": status,
            "repeated": repeated,
            "model": model,
            "outcome": self.outcome,
            "sentence": str(Outcome[self.outcome]),
            **self.proven(),
            "samples": self.samples,
            "votes": self.votes,
            **self.terms,
            "identity": self.identity,
            "image": self.image,
        }

    def proven(self) -> dict[str, Any]:
        """Return class, radius and the bound that it rests on."""
        name = None if self.predicted is None else self.class_names[self.predicted]
        return {
            "class": self.predicted,
            "class_name": name,
            "radius": self.radius,
            "p_lower": self.p_lower,
        }


_TERMS = ("alpha", "norm", "noise", "procedure", "engine")
