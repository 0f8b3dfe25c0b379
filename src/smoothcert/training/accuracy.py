"""Accuracy under noise: the figure that tells how a model will certify, at the price of few votes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from smoothcert.data import Dataset
from smoothcert.errors import ModelOutputError
from smoothcert.networks import MultiHead
from smoothcert.noise import NoiseLaw

_ROWS = 500  # images whose noise is drawn together; a constant, because the noise drawn depends on it
_VALUES = (
    _ROWS * 3 * 32 * 32
)  # of a forward pass, at most: 500 large pictures at a time would fill the memory
_FEWEST_ROWS = 16

OnCopies = Callable[[int, int], None]
"""Told how many noisy images have been classified, and of how many."""


def noisy_accuracy(
    model: nn.Module,
    dataset: Dataset,
    noise: NoiseLaw,
    *,
    draws: int,
    generator: torch.Generator,
    on_copies: OnCopies | None = None,
) -> float:
    """Return the fraction of noisy images that the model classifies right.

    Not certified accuracy: it averages over single votes. The model is left in the mode it was in.

    Args:
        model: batch -> logits, on any device.
        dataset: images and labels.
        noise: the law of the noise.
        draws: noisy copies per image.
        generator: the source of the noise, on the CPU: the same noise wherever the model is.
        on_copies: told about progress.
    """

    def answer(batch: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = model(batch)
        return logits.unsqueeze(1)

    return _accuracies(model, answer, dataset, noise, draws, generator, on_copies)[0]


def head_accuracies(
    model: MultiHead, dataset: Dataset, noise: NoiseLaw, *, draws: int, generator: torch.Generator
) -> tuple[float, ...]:
    """Return the fraction of noisy images that each head classifies right alone, on the same noise.

    Not the model's own accuracy, which is that of the heads' mean: see `noisy_accuracy`, whose arguments these are.
    """
    return tuple(_accuracies(model, model.head_logits, dataset, noise, draws, generator))


def _accuracies(
    model: nn.Module,
    answer: Callable[[torch.Tensor], torch.Tensor],
    dataset: Dataset,
    noise: NoiseLaw,
    draws: int,
    generator: torch.Generator,
    on_copies: OnCopies | None = None,
) -> list[float]:
    """Return the fraction right of every answer; `answer` maps a batch to logits (rows, answers, classes)."""
    was_training = model.training
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    model.eval()
    right: torch.Tensor | int = 0
    rows = max(_FEWEST_ROWS, _VALUES // math.prod(dataset.input_shape))
    done = 0
    with torch.inference_mode():
        for start in range(0, len(dataset), _ROWS):
            chosen = np.arange(start, min(start + _ROWS, len(dataset)))
            images, labels = dataset.batch(chosen), torch.from_numpy(dataset.labels[chosen])
            noisy = torch.empty_like(images)
            for _ in range(draws):
                noise.perturb(images, noisy, generator)
                for part, truth in zip(torch.split(noisy, rows), torch.split(labels, rows), strict=True):
                    logits = answer(part.to(device))
                    _refuse_nonsense(logits)
                    right = right + (logits.argmax(dim=-1).cpu() == truth.unsqueeze(1)).sum(dim=0)
                    done += len(part)
                    if on_copies is not None:
                        on_copies(done, draws * len(dataset))
    model.train(was_training)
    assert isinstance(right, torch.Tensor)
    return [count / (draws * len(dataset)) for count in right.tolist()]


def _refuse_nonsense(logits: torch.Tensor) -> None:
    if not bool(torch.isfinite(logits).all()):
        raise ModelOutputError(
            "the model answers noisy hold-out images with NaN or infinite logits: training has diverged; "
            "choose a lower learning rate"
        )
