"""Accuracy under noise: the figure that tells how a model will certify, at the price of few votes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from smoothcert.data import Dataset
from smoothcert.errors import ModelOutputError
from smoothcert.models import MultiHead
from smoothcert.noise import NoiseLaw

_ROWS = 500  # images per forward pass; a constant, because the noise drawn depends on it


def noisy_accuracy(
    model: nn.Module, dataset: Dataset, noise: NoiseLaw, *, draws: int, generator: torch.Generator
) -> float:
    """Return the fraction of noisy images that the model classifies right.

    Not certified accuracy: it averages over single votes. The model is left in the mode it was in.

    Args:
        model: batch -> logits, on any device.
        dataset: images and labels.
        noise: the law of the noise.
        draws: noisy copies per image.
        generator: the source of the noise, on the CPU: the same noise wherever the model is.
    """

    def answer(batch: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = model(batch)
        return logits.unsqueeze(1)

    return _accuracies(model, answer, dataset, noise, draws, generator)[0]


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
) -> list[float]:
    """Return the fraction right of every answer; `answer` maps a batch to logits (rows, answers, classes)."""
    was_training = model.training
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    model.eval()
    right: torch.Tensor | int = 0
    with torch.inference_mode():
        for start in range(0, len(dataset), _ROWS):
            chosen = np.arange(start, min(start + _ROWS, len(dataset)))
            images, labels = dataset.batch(chosen), torch.from_numpy(dataset.labels[chosen])
            noisy = torch.empty_like(images)
            for _ in range(draws):
                noise.perturb(images, noisy, generator)
                logits = answer(noisy.to(device))
                if not bool(torch.isfinite(logits).all()):
                    raise ModelOutputError(
                        "the model answers noisy hold-out images with NaN or infinite logits: training has diverged; "
                        "choose a lower learning rate"
                    )
                right = right + (logits.argmax(dim=-1).cpu() == labels.unsqueeze(1)).sum(dim=0)
    model.train(was_training)
    assert isinstance(right, torch.Tensor)
    return [count / (draws * len(dataset)) for count in right.tolist()]
