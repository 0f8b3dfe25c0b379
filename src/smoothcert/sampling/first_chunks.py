"""The first chunks of a run, drawn by the engine and by the model itself, and compared vote for vote."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from smoothcert.engines import Engine
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.chunk import Chunk
from smoothcert.sampling.comparison import refuse_other_answers_to
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.sampler import Sampler

COMPARED_CHUNKS = 4
"""Chunks per engine that the model itself draws too: 256 votes, once."""


def refuse_other_votes(
    engine: Engine, noise: NoiseLaw, images: Mapping[int, torch.Tensor], phase: str, *, seed: int, on_nan: str
) -> None:
    """Draw first chunks with the engine and with the model as it is; raise if a vote differs by more than rounding.

    The last of three checks of an engine, and the only one on the very images, noise and seed of a run. An engine that
    calls the model as it is has nothing to compare.

    Args:
        engine: executes the model.
        noise: law of the noise.
        images: the first images of the run, by index.
        phase: the first stream of votes.
        seed: of the run.
        on_nan: what NaN logits do, see `Sampler`.
    """
    sampler = Sampler(engine, noise, seed=seed, batch_size=CHUNK_VOTES, on_nan=on_nan)
    chunks = [
        Chunk(image, index, phase, number, CHUNK_VOTES)
        for number in range(COMPARED_CHUNKS)
        for index, image in images.items()
    ]
    for chunk in chunks[: COMPARED_CHUNKS - engine.compared] if not engine.as_is else ():
        refuse_other_answers_to(engine, sampler.noisy_images([chunk]), chunk.index)
        engine.compared += 1
