"""Checks, before the first vote, that a model is a fixed function of one noisy image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from smoothcert.engines import Engine, same_answers
from smoothcert.errors import InvalidImageError, ModelOutputError, SmoothcertError, UnsoundModelError
from smoothcert.networks import MIN_ROWS
from smoothcert.sampling.chunk import Chunk
from smoothcert.sampling.counting import not_finite
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.sampler import Sampler

_FEW_ROWS = 3 * MIN_ROWS


def check_fixed_function(sampler: Sampler, image: torch.Tensor, *, rows: int) -> None:
    """Run a batch twice, in parts of every size, in other places and among other neighbours; refuse other answers.

    Catches dropout, batch statistics, models that write into their input, answers that depend on a row's place or on
    the number of rows, and the wrong number of logits. It cannot prove that a model is fixed: one that changes its
    mind later, or reads a clock, passes.

    Args:
        sampler: the engine, noise and seed of the run; the probe has streams of its own.
        image: one of the images.
        rows: most rows that a batch of the run will have.
    """
    engine = sampler.engine
    batch, others = _noisy(sampler, image, max(rows, MIN_ROWS))
    moved = list(_regroupings(batch, others))
    # What fails on a few rows does not fail for their number.
    few, first, again, *regrouped = _answers(
        engine, [batch[:_FEW_ROWS], batch, batch, *(asked for _, _, asked in moved)]
    )
    for answers in (few, first) if sampler.on_nan == "raise" else ():
        finite = answers.isfinite().all(dim=2)
        if not bool(finite.all()):
            raise not_finite(int((~finite).sum()), finite.numel())
    if engine.model_writes(batch[:MIN_ROWS]):  # members of an ensemble share one
        raise UnsoundModelError(
            "the model writes into the batch it is given; let it work on a copy (x = x.clone(), or inplace=False)"
        )
    if not torch.equal(first.nan_to_num(), again.nan_to_num()):
        raise UnsoundModelError(
            "the model gave two different answers to the same batch, so no certificate about it could be true; "
            "remove randomness such as functional dropout (F.dropout needs training=False)"
        )
    given = [answers[place] for answers, (_, place, _) in zip(regrouped, moved, strict=True)]
    if not same_answers(given, [first[chosen] for chosen, _, _ in moved]):
        raise UnsoundModelError(
            "the model's answer to an image depends on the other images of the batch, on their number or on its "
            "place among them; call model.eval() first, so that batch normalisation uses its running statistics, "
            "and let no row see another"
        )


def _noisy(sampler: Sampler, image: torch.Tensor, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return noisy copies of an image, and what may be in a batch with it: copies of it, of a black and a white one.

    From streams that no vote has.
    """
    neighbours = (image, torch.zeros_like(image), torch.ones_like(image))
    chunks = [
        Chunk(one, number, "probe", first, min(CHUNK_VOTES, rows - first))
        for number, one in enumerate((image, *neighbours))
        for first in range(0, rows, CHUNK_VOTES)
    ]
    batch, *company = torch.split(sampler.noisy_images(chunks), rows)
    every = torch.arange(rows)
    return batch, torch.stack(company)[every % len(neighbours), every]


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


def _answers(engine: Engine, batches: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return an engine's answers as tensors of their own; say whose fault it is if there are none."""
    answers = []
    for batch in batches:
        try:
            answers.append(engine(batch.clone()).detach().cpu().double().clone())
        except SmoothcertError:
            raise
        except Exception as error:
            raise _fault(error, batch) from error
    return answers


def _fault(error: Exception, batch: torch.Tensor) -> SmoothcertError:
    given = f"a float32 torch tensor of shape {tuple(batch.shape)}"
    what = f"the model raised {type(error).__name__} on {given}: {error}"
    if len(batch) > _FEW_ROWS:
        return ModelOutputError(f"{what}; it answers {_FEW_ROWS} rows: set a smaller batch_size")
    if isinstance(error, RuntimeError | IndexError):  # what torch raises where shapes do not fit
        fix = "is the image of the shape the model takes, and the model one of float32 images?"
        return InvalidImageError(f"{what}; {fix}")
    return ModelOutputError(f"{what}; fix the model")
