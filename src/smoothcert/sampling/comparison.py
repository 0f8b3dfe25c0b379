"""A few noisy copies asked of an engine and of the model itself, and compared vote for vote."""

from __future__ import annotations

import torch

from smoothcert.engines import Engine, allowed_difference, as_logits, turn
from smoothcert.errors import EngineDisagreementError
from smoothcert.sampling.chunk import Chunk

_ROUNDING = 1e-3  # of the spread of logits: a vote between classes nearer than this may fall either way
_ONE_IN = 512  # chunks


def is_spot_check(chunk: Chunk) -> bool:
    """Return whether a chunk is one of the few of a run that the model draws too; the same ones whoever draws.

    Never the very first chunk, which `refuse_other_votes` has compared: a short run would pay for it twice.
    """
    return (chunk.index * 0x9E3779B1 + chunk.number * 0x85EBCA77) % _ONE_IN == _ONE_IN // 2


def refuse_other_answers_to(engine: Engine, noisy: torch.Tensor, index: int) -> None:
    """Raise `EngineDisagreementError` if the model votes otherwise than its engine by more than rounding.

    Args:
        engine: executes the model.
        noisy: noisy copies of an image.
        index: the image's place, for the message.
    """
    shape = (len(noisy), engine.answers, engine.num_classes)
    with torch.inference_mode(), turn():
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
            f"engine {engine.engine_name!r} answers {wrong} of {moved.numel()} noisy copies of image {index} "
            "otherwise than the model itself, so its votes would certify another classifier; run the model as it is "
            "with engine='eager' (--engine eager), or, if it keeps something from call to call, let it not"
        )
