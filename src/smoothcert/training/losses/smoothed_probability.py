"""What the losses share: cross entropy over noisy copies, and the mean probability z of the classes."""

from __future__ import annotations

from smoothcert.on_demand import torch

_SMALLEST = 1e-20  # logarithms are taken of no less: a finite loss for a class that has no probability


def copies_cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy averaged over copies and images.

    Not the loss of the smoothed classifier: that takes the logarithm after the mean over copies.

    Args:
        logits: of the noisy copies, (m, rows, classes).
        labels: class indices, (rows,).
    """
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.repeat(logits.shape[0]))


def smoothed_probability(logits: torch.Tensor, beta: float = 1.0) -> torch.Tensor:
    """Return z, the softmax averaged over the copies, (rows, classes); with a graph.

    Args:
        logits: of the noisy copies, (m, rows, classes).
        beta: factor on the logits; large ones bring the softmax close to a vote.
    """
    return (beta * logits).softmax(dim=-1).mean(dim=0)


def clamped_log(probabilities: torch.Tensor) -> torch.Tensor:
    """Return the logarithm, of 1e-20 where a probability is less; no gradient there."""
    return probabilities.clamp(min=_SMALLEST).log()
