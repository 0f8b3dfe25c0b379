"""From logits to votes by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.engines import Engine
from smoothcert.errors import ModelOutputError
from smoothcert.sampling.vote_log import no_class, vote_type

# Logits of one batch: a flat array if they were on the CPU, else the tensor as the engine shaped it.
Answers = NDArray[Any] | torch.Tensor


def count_votes(
    logits: Sequence[Answers], sizes: Sequence[int], engine: Engine, on_nan: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the votes of consecutive batches by (chunk, answer, class), and one by one by (row, answer).

    Ties go to the lowest class. Single votes are given as `vote_type`.

    Args:
        logits: answers to the rows of all chunks, batch by batch.
        sizes: rows of each chunk.
        engine: whose answers they are.
        on_nan: "raise" refuses NaN or infinite logits, "count" lets such a vote go to no class.
    """
    shape = (len(sizes), engine.answers, engine.num_classes)
    tensors = [batch for batch in logits if isinstance(batch, torch.Tensor)]
    if tensors:
        return _on_device(tensors, sizes, shape, on_nan)
    return _in_numpy([batch for batch in logits if isinstance(batch, np.ndarray)], sizes, shape, on_nan)


def _in_numpy(
    logits: Sequence[NDArray[Any]], sizes: Sequence[int], shape: tuple[int, int, int], on_nan: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Count on the CPU, for several batches at once.

    Not in torch: every torch call, and every NumPy call on a large array, lets go of the interpreter lock and
    has to wait for it again.
    """
    chunks, answers, classes = shape
    values = np.concatenate(logits).reshape(-1, answers, classes)
    finite = np.isfinite(values).all(axis=2)
    if on_nan == "raise" and not finite.all():
        raise not_finite(int((~finite).sum()), finite.size)
    owner = np.repeat(np.arange(chunks), sizes)
    best = values.argmax(axis=2)
    cell = (owner[:, None] * answers + np.arange(answers)) * classes + best
    chosen = cell[finite] if on_nan == "count" else cell.ravel()
    single = best.astype(vote_type(classes))
    if on_nan == "count":
        single[~finite] = no_class(classes)
    return np.bincount(chosen, minlength=chunks * answers * classes).reshape(shape), single


def _on_device(
    logits: Sequence[torch.Tensor], sizes: Sequence[int], shape: tuple[int, int, int], on_nan: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Count where the logits are; only the votes are moved."""
    chunks, answers, classes = shape
    values = torch.cat([batch.reshape(-1, answers, classes) for batch in logits])
    device = values.device
    finite = torch.isfinite(values).all(dim=2)
    owner = torch.repeat_interleave(torch.arange(chunks, device=device), torch.tensor(sizes, device=device))
    cell = (owner.unsqueeze(1) * answers + torch.arange(answers, device=device)) * classes
    best = values.argmax(dim=2)
    # One cell more takes the votes for no class, so that no shape depends on the logits.
    cell = torch.where(finite, cell + best, chunks * answers * classes)
    counted = torch.bincount(cell.reshape(-1), minlength=chunks * answers * classes + 1).cpu().numpy()
    if on_nan == "raise" and counted[-1]:
        raise not_finite(int(counted[-1]), finite.numel())
    single = torch.where(finite, best, no_class(classes)).cpu().numpy().astype(vote_type(classes))
    return counted[:-1].reshape(shape), single


def not_finite(wrong: int, of: int) -> ModelOutputError:
    """Return the error about answers that are no numbers."""
    return ModelOutputError(
        f"the model answered {wrong} of {of} noisy images with NaN or infinite logits; fix the model, or count "
        'such votes for no class with on_nan="count"'
    )
