"""Checks, before the first vote, that a model is a fixed function of one noisy image."""

from __future__ import annotations

from typing import Any

import torch

from smoothcert.engines import MIN_ROWS, Engine, device_of
from smoothcert.errors import InvalidImageError, ModelOutputError, SmoothcertError, UnsoundModelError
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.chunks import Chunk
from smoothcert.sampling.sampler import Sampler
from smoothcert.sampling.schedule import CHUNK_VOTES

_TOLERANCE = 1e-3  # of the spread of a row's logits; other batch shapes round differently, but far less
_ROWS = 3 * MIN_ROWS


def check_fixed_function(
    engine: Engine, noise: NoiseLaw, image: torch.Tensor, *, seed: int, on_nan: str
) -> None:
    """Run one batch twice, in another order, among other neighbours and in part; refuse answers that differ.

    Catches dropout, batch statistics, models that write into their input, and the wrong number of logits. It
    cannot prove that a model is fixed: one that changes its mind later, or reads a clock, passes.
    """
    refuse_training_mode(engine.model)
    # The probe has a phase of its own, so its noise is no vote's noise.
    sampler = Sampler(engine, noise, seed=seed, batch_size=CHUNK_VOTES, on_nan=on_nan)
    batch, others = (
        sampler.noisy_images([Chunk(image, 0, "probe", number, CHUNK_VOTES)])[:_ROWS].clone()
        for number in range(2)
    )
    first = _answers(engine, batch)
    if on_nan == "raise" and not bool(torch.isfinite(first).all()):
        raise ModelOutputError(
            'the model answers with NaN or infinite logits; mend it, or count such votes with on_nan="count"'
        )
    _refuse_writing(engine.model, batch)
    if not torch.equal(first.nan_to_num(), _answers(engine, batch).nan_to_num()):
        raise UnsoundModelError(
            "the model gave two different answers to the same batch, so no certificate about it could be true; "
            "remove randomness such as functional dropout (F.dropout needs training=False)"
        )
    order = torch.arange(_ROWS).roll(MIN_ROWS + 5)
    mixed, kept = others.clone(), torch.arange(_ROWS) % 3 == 1
    mixed[kept] = batch[kept]
    _refuse_difference(_answers(engine, batch[order]), first[order])
    _refuse_difference(_answers(engine, mixed)[kept], first[kept])
    _refuse_difference(_answers(engine, batch[5 : MIN_ROWS + 6]), first[5 : MIN_ROWS + 6])


def _refuse_difference(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Refuse answers that changed with the company a row was in, beyond rounding."""
    known = expected.nan_to_num(0.0, 0.0, 0.0)
    spread = (known.amax(dim=2) - known.amin(dim=2)).unsqueeze(2)
    allowed = _TOLERANCE * spread + 1e-6 * known.abs().amax(dim=2, keepdim=True)
    same = (found == expected) | ((found - expected).abs() <= allowed) | (found.isnan() & expected.isnan())
    if not bool(same.all()):
        raise UnsoundModelError(
            "the model's answer to an image depends on the other images of the batch; call model.eval() first, "
            "so that batch normalisation uses its running statistics, and let no row see another"
        )


def _refuse_writing(model: Any, batch: torch.Tensor) -> None:
    """Refuse a model that changes the batch it is given: members of an ensemble share one."""
    given = batch.clone()
    try:
        with torch.inference_mode():
            model(given.to(device_of(model)))
    except (
        Exception
    ):  # an engine may run what the model itself cannot; then nobody calls it with a shared batch
        return
    if not torch.equal(given, batch):
        raise UnsoundModelError(
            "the model writes into the batch it is given; let it work on a copy (x = x.clone(), or inplace=False)"
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
    """Return an engine's answers as a tensor of their own; say whose fault it is if there are none."""
    try:
        return engine(batch.clone()).detach().cpu().double().clone()
    except SmoothcertError:
        raise
    except Exception as error:
        given = f"a float32 torch tensor of shape {tuple(batch.shape)}"
        what = f"the model raised {type(error).__name__} on {given}: {error}"
        if isinstance(error, RuntimeError | IndexError):  # what torch raises where shapes do not fit
            raise InvalidImageError(f"{what}; is the image of the shape the model takes?") from error
        raise ModelOutputError(f"{what}; mend the model") from error
