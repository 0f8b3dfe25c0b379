"""Targeted difference of logits ratio (Croce and Hein 2020, Eq. 7): a loss that the scale of the logits cannot hide."""

from __future__ import annotations

from smoothcert.on_demand import torch

LEAST_CLASSES = 4
"""The denominator needs the fourth largest logit."""

_NOT_ZERO = 1e-12


def targeted_dlr(logits: torch.Tensor, labels: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return -(z_y - z_t) / (z_(1) - (z_(3) + z_(4)) / 2), (rows,); above 0 where the target leads the label.

    Not changed by adding to all logits, nor by scaling them, so log-probabilities serve as well as logits.

    Args:
        logits: (rows, classes), at least four classes.
        labels: y, class indices, (rows,).
        targets: t, class indices, (rows,).
    """
    ordered = logits.sort(dim=1, descending=True).values
    lead = logits.gather(1, labels.unsqueeze(1)) - logits.gather(1, targets.unsqueeze(1))
    return -lead.squeeze(1) / (ordered[:, 0] - (ordered[:, 2] + ordered[:, 3]) / 2 + _NOT_ZERO)
