"""Where votes come from: a classifier's engine, noise and seed, checked before the first vote; and the one driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from smoothcert.arguments import is_whole
from smoothcert.engines import Choice, Engine
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.any_pool import Pool
from smoothcert.sampling.comparison import refuse_other_votes
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.pool import WorkerPool
from smoothcert.sampling.probe import check_fixed_function
from smoothcert.sampling.sampler import Sampler
from smoothcert.sampling.schedule import Drawn, run_schedule
from smoothcert.visible import brief

_MOST_VALUES = 2**30  # of a batch: 4 GB


@dataclass(frozen=True, kw_only=True)
class VoteSource:
    """Everything that decides a vote but its image and its place in the streams.

    Not tied to workers, batches or files: whoever draws may stop, resume and spread it at will.

    Args:
        engine: executes the classifier, or a panel of several.
        noise: law of the noise.
        seed: seed of all streams.
        on_nan: what NaN logits do, see `Sampler`.
        first_phase: the first stream of votes.
        planned_votes: how many there may be, for choices about speed.
        choice: what "auto" took the engine for; None where it was asked for by name.
    """

    engine: Engine
    noise: NoiseLaw
    seed: int
    on_nan: str
    first_phase: str
    planned_votes: int
    choice: Choice | None = None

    @property
    def engine_told(self) -> str:
        """Which engine draws the votes, and why it was taken where that was left open, for a person."""
        name, choice = self.engine.engine_name, self.choice
        return name if choice is None or choice.name != name else f"{name} ({choice.reason()})"

    def check(self, images: Mapping[int, torch.Tensor], *, batch_size: int) -> None:
        """Refuse a model that is not a fixed function of an image, or an engine that answers otherwise than it.

        Most is done once per engine and size of batch.

        Args:
            images: the first images of the run, by index; one is enough.
            batch_size: most rows per forward pass of the run.
        """
        sampler, image = self.sampler(CHUNK_VOTES), next(iter(images.values()))
        rows = min(batch_size, max(self.planned_votes, 1))
        if (rows, self.on_nan) not in self.engine.probed:
            check_fixed_function(sampler, image, rows=rows)
            self.engine.probed.add((rows, self.on_nan))
        refuse_other_votes(sampler, images, self.first_phase)

    def sampler(self, batch_size: int) -> Sampler:
        """Return one worker's sampler for batches of so many rows at most."""
        return Sampler(self.engine, self.noise, seed=self.seed, batch_size=batch_size, on_nan=self.on_nan)

    def workers_here(self, workers: int, batch_size: int) -> WorkerPool:
        """Return workers of this process: threads, or processes where threads must not share.

        Args:
            workers: how many draw.
            batch_size: most rows per forward pass.
        """
        return WorkerPool(lambda: self.sampler(batch_size), workers, votes_planned=self.planned_votes)

    def draw(
        self,
        samplings: Iterable[Drawn],
        pool: Pool,
        *,
        batch_size: int,
        on_decided: Callable[[Drawn], None] | None = None,
        on_failed: Callable[[Drawn], None] | None = None,
        on_batch: Callable[[list[Drawn]], None] | None = None,
        every: float = 0.0,
    ) -> None:
        """Draw what samplings ask for until all are decided.

        Args:
            samplings: opened lazily; all images of one shape.
            pool: who draws, not entered yet.
            batch_size: most rows per forward pass.
            on_decided: called with each as it is decided.
            on_failed: called with each that the model cannot answer; by default that error ends everything.
            on_batch: called after a job with those still open; may raise `StopDrawing`.
            every: seconds between two such calls, at least; 0 calls after every job.
        """
        # Called back inside, not yielded to: after Ctrl-C in a callback the workers are asked their control question.
        with pool as entered:
            drawn = run_schedule(samplings, entered, batch_size=batch_size, on_batch=on_batch, every=every)
            for sampling in drawn:
                if sampling.fault is None:
                    if on_decided is not None:
                        on_decided(sampling)
                elif on_failed is None:
                    raise sampling.fault.error
                else:
                    on_failed(sampling)


def check_batch_size(batch_size: Any, image: torch.Tensor, engine: Engine) -> int:
    """Return `batch_size` if it is a positive integer, or for None one that suits a core's cache and the engine."""
    if batch_size is None:
        return engine.best_rows
    if not is_whole(batch_size, 1):
        raise InvalidArgumentError(f"batch_size must be a positive integer of rows, got {brief(batch_size)}")
    most = max(CHUNK_VOTES, _MOST_VALUES // max(image.numel(), 1))
    if batch_size > most:
        raise InvalidArgumentError(
            f"batch_size must be at most {most:,} rows of these images, got {brief(batch_size)}"
        )
    return batch_size
