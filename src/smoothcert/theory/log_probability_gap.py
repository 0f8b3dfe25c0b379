"""The log-probability gap of the papers: how clearly a network answers the true class to noisy copies of one image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.arguments import check_whole
from smoothcert.engines import single_threaded_torch
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.networks import answer_of
from smoothcert.noise import NoiseLaw
from smoothcert.seeding import KeyedGenerator
from smoothcert.theory.noisy_copies import noisy_batches


@dataclass(frozen=True, eq=False)
class LogProbabilityGaps:
    """Gaps of many noisy copies of one image. Not votes, and nothing is proven with them.

    Args:
        index: the image's place in its data set.
        label: its true class.
        gaps: log F_y - max over c != y of log F_c for each copy, in nats; below 0 the copy is misclassified.
    """

    index: int
    label: int
    gaps: NDArray[np.float64]

    @property
    def misclassified(self) -> float:
        """Share of the copies whose answer is not the label; ties count as misclassified."""
        return float((self.gaps <= 0).mean())


def log_probability_gaps(
    model: Any,
    noise: NoiseLaw,
    image: torch.Tensor,
    label: int,
    *,
    copies: int = 10_000,
    seed: int = 0,
    index: int = 0,
) -> LogProbabilityGaps:
    """Ask a model about noisy copies of an image; F is the softmax of its logits, whose normalisation cancels.

    The histogram of consistency regularization (its Figure 1) and SOME (its Figure 2). For a hard-voting ensemble the
    "logits" are shares of members, so its gaps take few values.

    Args:
        model: in eval mode, from a batch to logits.
        noise: law of the noise.
        image: without a batch dimension, pixels in [0, 1].
        label: its true class.
        copies: noisy copies, >= 1.
        seed: of the noise, in [0, 2^128).
        index: the image's place in its data set.
    """
    check_whole("copies", copies, 1)
    weight = next(model.parameters(), None) if isinstance(model, torch.nn.Module) else None
    device = torch.device("cpu") if weight is None else weight.device
    gaps = []
    with torch.inference_mode(), single_threaded_torch():
        for batch in noisy_batches(image, noise, copies, KeyedGenerator(), seed, index):
            logits = answer_of(model, batch.to(device)).double().cpu()
            if not 0 <= label < logits.shape[1]:
                raise InvalidArgumentError(
                    f"label must be a class of the model, below {logits.shape[1]}, got {label}"
                )
            others = logits.clone()
            others[:, label] = -torch.inf
            gaps.append((logits[:, label] - others.amax(dim=1)).numpy())
    together = np.concatenate(gaps)[:copies]
    if not np.isfinite(together).all():
        raise ModelOutputError(f"the model answered image {index} with NaN or infinite logits; it has no gap")
    return LogProbabilityGaps(index, label, together)
