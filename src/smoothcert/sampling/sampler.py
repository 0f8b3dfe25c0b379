"""From chunks to counted votes: noise made in place, one forward pass per batch, counting by bincount."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.engines import Engine
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.chunk import Chunk, ChunkVotes, ImagesOnDevice
from smoothcert.sampling.comparison import is_spot_check, refuse_other_answers_to
from smoothcert.sampling.counting import Answers, count_votes
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.vote_log import ON_NAN
from smoothcert.seeding import KeyedGenerator, stream_key


class Sampler:
    """One worker's share of the sampling: a buffer, a generator, and the loop over a batch.

    Not thread-safe: every worker has its own. Memory is one batch, however many votes are drawn. Noise is made,
    and votes are counted, on the engine's device.

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
        # Where torch cannot place a generator by its state, noise is made on the CPU and moved by the engine.
        self.device = engine.device if engine.device.type in ("cpu", "cuda") else torch.device("cpu")
        self._stream = KeyedGenerator(self.device)
        self._buffer = torch.empty(0)
        self._images = ImagesOnDevice(self.device)

    def draw(self, chunks: Sequence[Chunk]) -> list[ChunkVotes]:
        """Draw and count the votes of chunks of images of one shape, as many at a time as fit in a batch."""
        start = time.perf_counter()
        sizes = [chunk.votes for chunk in chunks]
        answers = [self._kept(*self.engine.checked(batch)) for batch in self._batches(chunks)]
        votes, single = count_votes([logits for logits, _ in answers], sizes, self.engine, self.on_nan)
        passes = self._passes([cost for _, cost in answers], sizes)
        seconds = (time.perf_counter() - start) / sum(sizes)
        for chunk in filter(is_spot_check, () if self.engine.as_is else chunks):
            refuse_other_answers_to(self, [chunk])
        by_chunk = np.split(single.T, np.cumsum(sizes[:-1], dtype=np.int64), axis=1)
        return [ChunkVotes(votes[i], passes[i], seconds * n, by_chunk[i]) for i, n in enumerate(sizes)]

    def _passes(self, costs: Sequence[NDArray[np.int64] | None], sizes: Sequence[int]) -> NDArray[np.int64]:
        """Return network evaluations by chunk and answer."""
        known = [cost for cost in costs if cost is not None]
        if not known:
            return np.outer(sizes, self.engine.evaluations_per_vote)
        starts = np.concatenate([[0], np.cumsum(sizes[:-1], dtype=np.int64)])
        return np.add.reduceat(np.concatenate(known), starts, axis=0)

    def _batches(self, chunks: Sequence[Chunk]) -> Iterator[torch.Tensor]:
        """Yield the noisy images of chunks in batches; each is valid until the next is asked for."""
        together = max(1, self.batch_size // CHUNK_VOTES)
        for first in range(0, len(chunks), together):
            noisy = self.noisy_images(chunks[first : first + together])
            if noisy.shape[0] <= self.batch_size:
                yield noisy
            else:  # a batch smaller than a chunk
                yield from torch.split(noisy, self.batch_size)

    def _kept(
        self, logits: torch.Tensor, passes: NDArray[np.int64] | None
    ) -> tuple[Answers, NDArray[np.int64] | None]:
        """Return a copy of the logits, because a model may write all its answers into one buffer, and their cost.

        On the CPU through `tobytes`, which copies without letting go of the interpreter lock.
        """
        if logits.device.type != "cpu":
            return logits.detach().clone(), passes
        array = logits.numpy()
        return np.frombuffer(array.tobytes(), dtype=array.dtype), passes

    def answers(self, chunks: Sequence[Chunk]) -> NDArray[Any]:
        """Return the logits, (rows, answers, classes), of the noisy images of chunks, asked in one batch."""
        return self.engine(self.noisy_images(chunks)).cpu().numpy()

    def noisy_images(self, chunks: Sequence[Chunk]) -> torch.Tensor:
        """Return the noisy images of chunks, one after the other; valid until the next call."""
        shape = chunks[0].image.shape
        needed = sum(chunk.votes for chunk in chunks) + CHUNK_VOTES
        if self._buffer.shape[1:] != shape or self._buffer.shape[0] < needed:
            self._buffer = torch.empty((needed, *shape), dtype=torch.float32, device=self.device)
        row, images = 0, self._images.of_all(chunks)
        for chunk, image in zip(chunks, images, strict=True):
            seed = self.seed if chunk.seed is None else chunk.seed
            generator = self._stream.at(stream_key(seed, chunk.index, chunk.phase, chunk.number))
            # Always a whole chunk, because the values of a draw depend on its size; what a short chunk does
            # not need is overwritten by the next one.
            self.noise.perturb(image, self._buffer[row : row + CHUNK_VOTES], generator)
            row += chunk.votes
        return self._buffer[:row]
