"""Accuracy under noise: the figure that tells how a model will certify, at the price of few votes."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from smoothcert.data import Dataset
from smoothcert.errors import ModelOutputError
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
    was_training = model.training
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    model.eval()
    right = 0
    with torch.inference_mode():
        for start in range(0, len(dataset), _ROWS):
            chosen = np.arange(start, min(start + _ROWS, len(dataset)))
            images, labels = dataset.batch(chosen), torch.from_numpy(dataset.labels[chosen])
            noisy = torch.empty_like(images)
            for _ in range(draws):
                noise.perturb(images, noisy, generator)
                logits = model(noisy.to(device))
                if not bool(torch.isfinite(logits).all()):
                    raise ModelOutputError(
                        "the model answers noisy hold-out images with NaN or infinite logits: training has diverged; "
                        "choose a lower learning rate"
                    )
                right += int((logits.argmax(dim=1).cpu() == labels).sum())
    model.train(was_training)
    return right / (draws * len(dataset))
