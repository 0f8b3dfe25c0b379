"""Checks, before the first vote, that a model is a fixed function of one noisy image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from smoothcert.engines import Engine, allowed_difference, device_of, turn
from smoothcert.errors import InvalidImageError, ModelOutputError, SmoothcertError, UnsoundModelError
from smoothcert.networks import MIN_ROWS
from smoothcert.noise import NoiseLaw
from smoothcert.sampling.chunk import Chunk
from smoothcert.sampling.counting import not_finite
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.sampler import Sampler

_FEW_ROWS = 3 * MIN_ROWS
_TOLERANCE = 1e-3  # of the spread of logits; other batch shapes round differently, but far less


def check_fixed_function(
    engine: Engine, noise: NoiseLaw, image: torch.Tensor, *, seed: int, on_nan: str, rows: int
) -> None:
    """Run a batch twice, in parts of every size, in other places and among other neighbours; refuse other answers.

    Catches dropout, batch statistics, models that write into their input, answers that depend on a row's place or on
    the number of rows, and the wrong number of logits. It cannot prove that a model is fixed: one that changes its
    mind later, or reads a clock, passes.

    Args:
        engine: executes the model.
        noise: law of the noise.
        image: one of the images.
        seed: of the run; the probe has streams of its own.
        on_nan: what NaN logits do, see `Sampler`.
        rows: most rows that a batch of the run will have.
    """
    refuse_training_mode(engine.model)
    rows = max(rows, MIN_ROWS)
    sampler = Sampler(engine, noise, seed=seed, batch_size=CHUNK_VOTES, on_nan=on_nan)
    batch, others = noisy_probe(sampler, image, rows, 0), _company(sampler, image, rows)
    for asked in (batch[:_FEW_ROWS], batch):  # what fails on a few rows does not fail for their number
        first = _answers(engine, asked)
        finite = first.isfinite().all(dim=2)
        if on_nan == "raise" and not bool(finite.all()):
            raise not_finite(int((~finite).sum()), finite.numel())
    _refuse_writing(engine.model, batch[:MIN_ROWS])
    if not torch.equal(first.nan_to_num(), _answers(engine, batch).nan_to_num()):
        raise UnsoundModelError(
            "the model gave two different answers to the same batch, so no certificate about it could be true; "
            "remove randomness such as functional dropout (F.dropout needs training=False)"
        )
    for chosen, place, asked in _regroupings(batch, others):
        if not same_answers(_answers(engine, asked)[place], first[chosen]):
            raise UnsoundModelError(
                "the model's answer to an image depends on the other images of the batch, on their number or on its "
                "place among them; call model.eval() first, so that batch normalisation uses its running statistics, "
                "and let no row see another"
            )


def noisy_probe(sampler: Sampler, image: torch.Tensor, rows: int, number: int) -> torch.Tensor:
    """Return noisy copies of an image from streams that no vote has."""
    chunks = [
        Chunk(image, number, "probe", first, min(CHUNK_VOTES, rows - first))
        for first in range(0, rows, CHUNK_VOTES)
    ]
    return sampler.noisy_images(chunks).clone()


def _company(sampler: Sampler, image: torch.Tensor, rows: int) -> torch.Tensor:
    """Return noisy copies of the image, of a black and of a white one in turns: what may be in a batch with it."""
    neighbours = (image, torch.zeros_like(image), torch.ones_like(image))
    drawn = torch.stack(
        [noisy_probe(sampler, one, rows, number) for number, one in enumerate(neighbours, start=1)]
    )
    return drawn[torch.arange(rows) % len(neighbours), torch.arange(rows)]


def _regroupings(
    batch: torch.Tensor, others: torch.Tensor
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Yield (which rows, where they are now, a batch that holds them there), so that every row is moved."""
    rows = len(batch)
    every = torch.arange(rows)
    # A third of the rows, moved on, among others; by a step that brings each to the other part of the batch.
    some = every[every % 3 == 1]
    place = (some + rows // 2 + 5) % rows
    mixed = others.clone()
    mixed[place] = batch[some]
    yield some, place, mixed
    for first in range(0, rows, MIN_ROWS):  # at the front, and in the smallest batches there are
        part = every[first : first + MIN_ROWS]
        yield part, torch.arange(len(part)), batch[part]
    for size in _partial_sizes(rows):
        part = every[rows - size :]
        yield part, torch.arange(size), batch[part]


def _partial_sizes(rows: int) -> Iterator[int]:
    """Yield sizes of batches that are not full: nearly so, halves of halves, whole chunks and an odd one."""
    if rows > MIN_ROWS + 6:
        yield MIN_ROWS + 6
        yield rows - 1
    size = rows // 2
    while size >= CHUNK_VOTES:
        yield size
        size //= 2


def same_answers(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Return whether answers are equal up to the rounding that another batch brings."""
    near = (found - expected).abs() <= allowed_difference(expected, _TOLERANCE)
    return bool((near | (found == expected) | (found.isnan() & expected.isnan())).all())


def _refuse_writing(model: Any, batch: torch.Tensor) -> None:
    """Refuse a model that changes the batch it is given: members of an ensemble share one."""
    given = batch.clone()
    try:
        with torch.inference_mode(), turn():
            model(given.to(device_of(model)))
    except Exception:
        return  # an engine may run what the model itself cannot; then nobody calls it with a shared batch
    if not torch.equal(given, batch):
        raise UnsoundModelError(
            "the model writes into the batch it is given; let it work on a copy (x = x.clone(), or inplace=False)"
        )


def refuse_training_mode(model: Any) -> None:
    """Refuse a torch module any part of which is in train mode."""
    if isinstance(model, torch.nn.Module):
        training = [
            name or "the model itself"
            for name, part in model.named_modules()
            if getattr(part, "training", False)
        ]
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
        if len(batch) > _FEW_ROWS:
            raise ModelOutputError(
                f"{what}; it answers {_FEW_ROWS} rows: set a smaller batch_size"
            ) from error
        if isinstance(error, RuntimeError | IndexError):  # what torch raises where shapes do not fit
            fix = "is the image of the shape the model takes, and the model one of float32 images?"
            raise InvalidImageError(f"{what}; {fix}") from error
        raise ModelOutputError(f"{what}; fix the model") from error
