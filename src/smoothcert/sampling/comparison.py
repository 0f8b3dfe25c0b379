"""Noisy copies asked of an engine and of the model itself, and compared vote for vote.

The last of three checks of an engine, and the only one on the very images, noise and seed of a run: its first chunks,
and a few later ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from smoothcert.engines import allowed_difference, turn
from smoothcert.errors import EngineDisagreementError
from smoothcert.networks import as_logits
from smoothcert.sampling.chunk import Chunk
from smoothcert.sampling.phases import CHUNK_VOTES

if TYPE_CHECKING:
    from smoothcert.sampling.sampler import Sampler

COMPARED_CHUNKS = 4
"""Chunks per engine that the model itself draws too: 256 votes, once."""
_ROUNDING = 1e-3  # of the spread of logits: a vote between classes nearer than this may fall either way
_ONE_IN = 512  # chunks


def refuse_other_votes(sampler: Sampler, images: Mapping[int, torch.Tensor], phase: str) -> None:
    """Draw first chunks with the engine and with the model as it is; raise if a vote differs by more than rounding.

    An engine that calls the model as it is has nothing to compare.

    Args:
        sampler: the engine, noise and seed of the run.
        images: the first images of the run, by index.
        phase: the first stream of votes.
    """
    engine = sampler.engine
    if engine.as_is or engine.compared >= COMPARED_CHUNKS:
        return
    chunks = [
        Chunk(image, index, phase, number, CHUNK_VOTES)
        for number in range(COMPARED_CHUNKS)
        for index, image in images.items()
    ][: COMPARED_CHUNKS - engine.compared]
    refuse_other_answers_to(sampler, chunks)
    engine.compared += len(chunks)


def is_spot_check(chunk: Chunk) -> bool:
    """Return whether a chunk is one of the few of a run that the model draws too; the same ones whoever draws.

    Never the very first chunk, which `refuse_other_votes` has compared: a short run would pay for it twice.
    """
    place = chunk.index * 0x9E3779B1 + chunk.number * 0x85EBCA77 + (chunk.seed or 0)
    return place % _ONE_IN == _ONE_IN // 2


def refuse_other_answers_to(sampler: Sampler, chunks: Sequence[Chunk]) -> None:
    """Raise `EngineDisagreementError` if the model votes otherwise than its engine by more than rounding.

    Args:
        sampler: the engine, noise and seed of the run.
        chunks: what both are asked about, one batch each.
    """
    engine = sampler.engine
    shape = (-1, engine.answers, engine.num_classes)
    noisy = torch.split(sampler.noisy_images(chunks), [chunk.votes for chunk in chunks])
    with torch.inference_mode(), turn():
        # Copies, because a model may write all its answers into one buffer.
        ours = [engine.exact_forward(batch.clone()).cpu().clone().reshape(shape) for batch in noisy]
        own = [
            as_logits(engine.model(batch.clone().to(engine.device)), len(batch)).cpu().clone().reshape(shape)
            for batch in noisy
        ]
    allowed = [allowed_difference(logits, _ROUNDING) for logits in own]
    for chunk, one, two, most in zip(chunks, ours, own, allowed, strict=True):
        finite = two.isfinite().all(dim=2)
        lost = finite != one.isfinite().all(dim=2)
        known = torch.where(finite.unsqueeze(2), two.double(), 0.0)
        best, chosen = known.argmax(dim=2, keepdim=True), one.argmax(dim=2, keepdim=True)
        gap = known.gather(2, best) - known.gather(2, chosen)
        moved = (gap > most.gather(2, best)).squeeze(2) & finite
        wrong = int((moved | lost).sum())
        if wrong:
            raise EngineDisagreementError(
                f"engine {engine.engine_name!r} answers {wrong} of {moved.numel()} noisy copies of image "
                f"{chunk.index} otherwise than the model itself, so its votes would certify another classifier; run "
                "the model as it is with engine='eager' (--engine eager), or, if it keeps something from call to "
                "call, let it not"
            )
