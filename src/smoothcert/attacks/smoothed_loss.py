"""The loss of the smoothed classifier, estimated with m noisy copies: -log mean_i F_y(x + e_i)."""

from __future__ import annotations

import math

from smoothcert import networks
from smoothcert.on_demand import nn, torch


def noisy_logits(model: nn.Module, images: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return the logits of every noisy copy in one forward pass, (m, rows, classes), at least in float32.

    Not clipped: the noise goes onto the images as it is.

    Args:
        model: batch -> logits.
        images: images in pixel units, (rows, ...).
        offsets: what the copies add to every image, (m, rows, ...).
    """
    return copy_logits(model, images + offsets)


def copy_logits(model: nn.Module, copies: torch.Tensor) -> torch.Tensor:
    """Return the logits of copies that are noisy already, (m, rows, classes), at least in float32.

    Args:
        model: batch -> logits.
        copies: noisy images in pixel units, (m, rows, ...).
    """
    logits = networks.answer_of(model, copies.flatten(0, 1))
    if logits.dtype in (torch.float16, torch.bfloat16):  # autocast: too coarse for logarithms and Phi^-1
        logits = logits.float()
    return logits.reshape(*copies.shape[:2], -1)


def smoothed_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return -log of the mean probability of the label, per image, (rows,); plain cross entropy if m = 1.

    Not the mean cross entropy of the copies: that would be the mean of the logarithms. Computed in logarithms,
    so that a probability too small for a float still has a loss and a gradient.

    Args:
        logits: of the noisy copies, (m, rows, classes).
        labels: class indices, (rows,).
    """
    m = logits.shape[0]
    log_probabilities = logits.log_softmax(dim=-1)
    of_labels = log_probabilities.gather(-1, labels.expand(m, -1).unsqueeze(-1)).squeeze(-1)
    return math.log(m) - of_labels.logsumexp(dim=0)
