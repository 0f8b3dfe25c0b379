"""The two regularisers of DRT (Yang et al. 2022): gradient diversity and confidence margin of an ensemble's members."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from smoothcert.on_demand import torch


def margins(logits: torch.Tensor) -> torch.Tensor:
    """Return the largest minus the second largest probability, (..., ) from logits (..., classes)."""
    first, second = logits.softmax(dim=-1).topk(2, dim=-1).values.unbind(dim=-1)
    return first - second


def margin_gradients(logits: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """Return the gradient of each row's margin at its own input, (rows, pixels), able to be differentiated again.

    Under batch norm in train mode a row's input moves the other rows' margins too; their sum is differentiated, as
    everywhere in the field.

    Args:
        logits: what a member answered to `inputs`, (rows, classes).
        inputs: noisy images, (rows, ...), which require a gradient.
    """
    (gradients,) = torch.autograd.grad(margins(logits).sum(), inputs, create_graph=True)
    return gradients.flatten(1)


def gradient_diversity(gradients: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the mean of ||g_i + g_j||^2 over the pairs of members and the rows that both get right; 0 if none.

    Opposite gradients make it 0: then no direction lowers the margins of both members.

    Args:
        gradients: of each member's margin, (rows, pixels).
        right: which rows each member gets right, (rows,).
    """
    sums = torch.stack([(a + b).square().sum(dim=1) for a, b in combinations(gradients, 2)])
    both = torch.stack([a & b for a, b in combinations(right, 2)])
    return mean_where(sums, both)


def mean_where(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean of the values that the mask keeps; 0, with a gradient of 0, if it keeps none."""
    return torch.where(mask, values, torch.zeros_like(values)).sum() / mask.sum().clamp(min=1)
