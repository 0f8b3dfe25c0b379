"""The first chunks of a run, drawn by the engine and by the model itself, and compared vote for vote."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from smoothcert.engines import Engine, allowed_difference, as_logits
from smoothcert.errors import EngineDisagreementError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.chunks import Chunk
from smoothcert.sampling.sampler import Sampler
from smoothcert.sampling.schedule import CHUNK_VOTES

COMPARED_CHUNKS = 4
"""Chunks per engine that the model itself draws too: 256 votes, once."""
_ROUNDING = 1e-3  # of the spread of logits: a vote between classes nearer than this may fall either way


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
        _compare(engine, sampler, chunk)
        engine.compared += 1


def _compare(engine: Engine, sampler: Sampler, chunk: Chunk) -> None:
    noisy = sampler.noisy_images([chunk])
    shape = (len(noisy), engine.answers, engine.num_classes)
    with torch.inference_mode():
        ours = engine.exact_forward(noisy.clone()).cpu().reshape(shape)
        own = as_logits(engine.model(noisy.clone().to(engine.device))).cpu().reshape(shape)
    finite = own.isfinite().all(dim=2)
    lost = finite != ours.isfinite().all(dim=2)
    known = torch.where(finite.unsqueeze(2), own.double(), 0.0)
    best, chosen = known.argmax(dim=2, keepdim=True), ours.argmax(dim=2, keepdim=True)
    gap = known.gather(2, best) - known.gather(2, chosen)
    moved = (gap > allowed_difference(own, _ROUNDING).gather(2, best)).squeeze(2) & finite
    wrong = int((moved | lost).sum())
    if wrong:
        raise EngineDisagreementError(
            f"engine {engine.engine_name!r} answers {wrong} of {moved.numel()} noisy copies of image {chunk.index} "
            "otherwise than the model itself, so its votes would certify another classifier; run the model as it is "
            "with engine='eager' (--engine eager), or, if it keeps something from call to call, let it not"
        )
