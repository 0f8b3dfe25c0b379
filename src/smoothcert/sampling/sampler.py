"""From chunks to counted votes: noise made in place, one forward pass per batch, counting by bincount."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.engines import Engine
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.schedule import CHUNK_VOTES
from smoothcert.seeding import KeyedGenerator, stream_key

ON_NAN = ("raise", "count")


@dataclass(frozen=True)
class Chunk:
    """One chunk of votes to draw: which image, from which stream, how many."""

    image: torch.Tensor
    index: int
    phase: str
    number: int
    votes: int


@dataclass(frozen=True)
class ChunkVotes:
    """What one chunk brought: votes by (answer, class), forward passes by answer, seconds of one worker."""

    votes: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    seconds: float


class Sampler:
    """One worker's share of the sampling: a buffer, a generator, and the loop over a batch.

    Not thread-safe: every worker has its own. Memory is one batch, however many votes are drawn.

    Args:
        engine: executes the classifier.
        noise: law of the noise.
        seed: seed of the run, in [0, 2^128).
        batch_size: most rows per forward pass.
        on_nan: "raise" refuses NaN or infinite logits, "count" lets such a vote go to no class; it stays in
            the denominator either way.
    """

    def __init__(
        self, engine: Engine, noise: NoiseLaw, *, seed: int, batch_size: int, on_nan: str = "raise"
    ) -> None:
        if on_nan not in ON_NAN:
            raise InvalidArgumentError(f"on_nan must be one of {', '.join(ON_NAN)}, got {on_nan!r}")
        self.engine, self.noise, self.seed, self.batch_size, self.on_nan = (
            engine,
            noise,
            seed,
            batch_size,
            on_nan,
        )
        self._stream = KeyedGenerator()
        self._buffer = torch.empty(0)

    def draw(self, chunks: Sequence[Chunk]) -> list[ChunkVotes]:
        """Draw and count the votes of chunks of images of one shape, as many at a time as fit in a batch."""
        start = time.perf_counter()
        rows = sum(chunk.votes for chunk in chunks)
        votes = self._count([self._logits(batch) for batch in self._batches(chunks)], chunks)
        seconds = time.perf_counter() - start
        passes = np.asarray(self.engine.evaluations_per_vote, dtype=np.int64)
        return [
            ChunkVotes(votes[i], passes * chunk.votes, seconds * chunk.votes / rows)
            for i, chunk in enumerate(chunks)
        ]

    def _batches(self, chunks: Sequence[Chunk]) -> Iterator[torch.Tensor]:
        """Yield the noisy images of chunks in batches; each is valid until the next is asked for."""
        together = max(1, self.batch_size // CHUNK_VOTES)
        for first in range(0, len(chunks), together):
            noisy = self.noisy_images(chunks[first : first + together])
            if noisy.shape[0] <= self.batch_size:
                yield noisy
            else:  # a batch smaller than a chunk
                yield from noisy.split(self.batch_size)

    def _logits(self, batch: torch.Tensor) -> NDArray[Any]:
        """Return a copy of the logits: a model may write all its answers into one buffer.

        Through `tobytes`, which copies without letting go of the interpreter lock.
        """
        logits = self.engine.checked(batch)
        array = (logits if logits.device.type == "cpu" else logits.cpu()).numpy()
        return np.frombuffer(array.tobytes(), dtype=array.dtype)

    def noisy_images(self, chunks: Sequence[Chunk]) -> torch.Tensor:
        """Return the noisy images of chunks, one after the other; valid until the next call."""
        shape = chunks[0].image.shape
        needed = sum(chunk.votes for chunk in chunks) + CHUNK_VOTES
        if self._buffer.shape[1:] != shape or self._buffer.shape[0] < needed:
            self._buffer = torch.empty((needed, *shape), dtype=torch.float32)
        row = 0
        for chunk in chunks:
            generator = self._stream.at(stream_key(self.seed, chunk.index, chunk.phase, chunk.number))
            # Always a whole chunk, because the values of a draw depend on its size; what a short chunk does
            # not need is overwritten by the next one.
            self.noise.perturb(chunk.image, self._buffer[row : row + CHUNK_VOTES], generator)
            row += chunk.votes
        return self._buffer[:row]

    def _count(
        self, logits: Sequence[NDArray[Any]], chunks: Sequence[Chunk]
    ) -> NDArray[np.int64]:
        """Count the votes of consecutive batches by (chunk, answer, class); ties go to the lowest class.

        In NumPy and for several batches at once: every torch call, and every NumPy call on a large array, lets
        go of the interpreter lock and has to wait for it again.
        """
        answers, classes = self.engine.answers, self.engine.num_classes
        values = np.concatenate(logits).reshape(-1, answers, classes)
        finite = np.isfinite(values).all(axis=2)
        if self.on_nan == "raise" and not finite.all():
            raise ModelOutputError(
                f"the model answered {int((~finite).sum())} of {finite.size} noisy images with NaN or infinite "
                'logits; mend the model, or count such votes for no class with on_nan="count"'
            )
        owner = np.repeat(np.arange(len(chunks)), [chunk.votes for chunk in chunks])
        cell = (owner[:, None] * answers + np.arange(answers)) * classes + values.argmax(axis=2)
        chosen = cell[finite] if self.on_nan == "count" else cell.ravel()
        counted = np.bincount(chosen, minlength=len(chunks) * answers * classes)
        return counted.reshape(len(chunks), answers, classes)
