"""This package, through its public surface: `FixedSample` on one image, `GroupSequential` on many."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

import smoothcert as sc
from benchmarks.measure import Claim
from benchmarks.settings import ALPHA, N0, NUM_CLASSES, PLANNED_VOTES, SIGMA
from smoothcert.certificates.procedure import Procedure
from smoothcert.engines import Engine
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import check_batch_size

SEED = 1  # of the noise; a benchmark has no secret to keep


class Ours:
    """A smoothed classifier whose engine is made and warm, ready to be timed.

    The engine is made once per classifier, as in every longer run; `setup_seconds` says what that took.

    Args:
        model: the network, in eval mode.
        image: one of the images.
        engine: an engine's name; "auto" is resolved once, for `PLANNED_VOTES` votes.
        workers: threads.
        sigma: standard deviation of the noise, in pixel units.
        noise: another law than Gaussian noise of that sigma.
        num_classes: number of logits.
    """

    def __init__(
        self,
        model: nn.Module,
        image: torch.Tensor,
        *,
        engine: str,
        workers: int,
        sigma: float = SIGMA,
        noise: NoiseLaw | None = None,
        num_classes: int = NUM_CLASSES,
    ) -> None:
        law = sc.Gaussian(sigma) if noise is None else noise
        self.classifier = sc.SmoothedClassifier(model, law, num_classes)
        self.workers = workers
        start = time.perf_counter()
        self.engine: Engine = self.classifier.certification(
            sc.FixedSample(n0=N0, n=PLANNED_VOTES), alpha=ALPHA, seed=SEED, engine=engine, example=image
        ).engine
        self.batch = check_batch_size(None, image, self.engine)
        self.certify(image, workers * self.batch)
        self.setup_seconds = time.perf_counter() - start

    def certify(self, image: torch.Tensor, n: int, n0: int = N0) -> Claim:
        """Return CERTIFY's answer for one image: n0 votes choose the class, n fresh ones bound it."""
        certificate = self.classifier.certify(
            image,
            sc.FixedSample(n0=n0, n=n),
            alpha=ALPHA,
            seed=SEED,
            engine=self.engine.engine_name,
            workers=self.workers,
        )
        return Claim(certificate.predicted, certificate.radius, certificate.samples)

    def certify_many(
        self,
        dataset: sc.Dataset,
        procedure: Procedure,
        out: Path | None = None,
        indices: Sequence[int] | None = None,
    ) -> sc.Run:
        """Certify the images of a data set.

        Args:
            dataset: images and labels.
            procedure: how to spend votes.
            out: run folder; None keeps the run in memory.
            indices: which images; None: all.
        """
        return sc.certify(
            self.classifier,
            dataset,
            procedure=procedure,
            alpha=ALPHA,
            seed=SEED,
            engine=self.engine.engine_name,
            workers=self.workers,
            out=out,
            indices=indices,
            show_progress=False,
        )


def votes_of(run: sc.Run) -> int:
    """Return the votes that a run's certificates rest on; votes drawn ahead and dropped are not among them."""
    return int(sum(run.column("samples")))
