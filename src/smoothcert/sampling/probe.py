"""Checks, before the first vote, that a model is a fixed function of one noisy image."""

from __future__ import annotations

from typing import Any

import torch

from smoothcert.engines import MIN_ROWS, Engine
from smoothcert.errors import InvalidImageError, ModelOutputError, SmoothcertError, UnsoundModelError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.sampler import Chunk, Sampler
from smoothcert.sampling.schedule import CHUNK_VOTES

_TOLERANCE = 1e-3  # relative; other batch shapes round differently, another classifier differs by far more


def check_fixed_function(
    engine: Engine, noise: NoiseLaw, image: torch.Tensor, *, seed: int, on_nan: str
) -> None:
    """Run one batch twice and once among other neighbours; refuse a model whose answers differ.

    Catches dropout, batch statistics and the wrong number of logits. It cannot prove that a model is fixed:
    one that changes its mind later, or reads a clock, passes.
    """
    refuse_training_mode(engine.model)
    # The probe has a phase of its own, so its noise is no vote's noise.
    sampler = Sampler(engine, noise, seed=seed, batch_size=CHUNK_VOTES, on_nan=on_nan)
    batch = sampler.noisy_images([Chunk(image, 0, "probe", 0, CHUNK_VOTES)])[: 2 * MIN_ROWS].clone()
    first = _answers(engine, batch)
    if not torch.equal(first.nan_to_num(), _answers(engine, batch).nan_to_num()):
        raise UnsoundModelError(
            "the model gave two different answers to the same batch, so no certificate about it could be true; "
            "remove randomness such as functional dropout (F.dropout needs training=False)"
        )
    alone = _answers(engine, batch[:MIN_ROWS])
    near = torch.isclose(first[:MIN_ROWS], alone, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
    if not bool(near.all()):
        raise UnsoundModelError(
            "the model's answer to an image depends on the other images of the batch; call model.eval() first, "
            "so that batch normalisation uses its running statistics"
        )
    if on_nan == "raise" and not bool(torch.isfinite(first).all()):
        raise ModelOutputError(
            'the model answers with NaN or infinite logits; mend it, or count such votes with on_nan="count"'
        )


def refuse_training_mode(model: Any) -> None:
    """Refuse a torch module any part of which is in train mode."""
    if isinstance(model, torch.nn.Module):
        training = [name or "the model itself" for name, part in model.named_modules() if part.training]
        if training:
            raise UnsoundModelError(
                f"the model is in train mode ({training[0]}), where its answers depend on the batch; "
                "call model.eval() first"
            )


def _answers(engine: Engine, batch: torch.Tensor) -> torch.Tensor:
    try:
        return engine(batch)
    except SmoothcertError:
        raise
    except Exception as error:
        raise InvalidImageError(
            f"the model failed on a batch of shape {tuple(batch.shape)} ({type(error).__name__}: {error}); "
            "is the image of the shape the model takes?"
        ) from error
