"""Decoupled direction and norm (Rony et al. 2019) on the smoothed classifier: the smallest change that breaks it."""

from __future__ import annotations

import math

from smoothcert.attacks.ascent import ascent
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.length import lengths, shortened, unit
from smoothcert.attacks.stepwise import stepwise
from smoothcert.on_demand import nn, torch

_LAST_RATE = 0.01  # step length at the end of the half cosine that starts at 1


def ddn(
    model: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    offsets: torch.Tensor,
    *,
    eps: float,
    steps: int,
    gamma: float = 0.05,
    first_norm: float = 1.0,
    levels: int | None = None,
) -> torch.Tensor:
    """Return the smallest change seen that breaks the majority vote; where none did, the last one tried.

    Not a maximiser of the loss: the norm grows by 1 + gamma while the vote is right and shrinks by 1 - gamma when
    it is wrong, so it hovers at the boundary. An image that is wrong already is returned unchanged. An image
    never broken gets the last change, of length at most eps, so that training always has a hard image. The
    point after the last step is not looked at (T gradients, nothing more).

    Args:
        model: batch -> logits.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        offsets: noise of the m copies, (m, rows, ...).
        eps: largest l2 norm of the change, in pixel units.
        steps: gradient steps T.
        gamma: share by which the norm grows or shrinks, in (0, 1).
        first_norm: norm to start with, in pixel units; cut to eps from the first step on.
        levels: values a pixel can take, to change pixels by whole levels (256 for 8 bits); None for any change.
    """
    images = images.detach()
    change, best = torch.zeros_like(images), torch.zeros_like(images)
    norm = torch.full_like(lengths(images), first_norm)
    smallest = torch.full_like(norm, torch.inf)
    with attacked(model):
        for step in range(steps):
            direction, logits = ascent(model, images + change, labels, offsets)
            broken = vote_is_wrong(logits, labels).reshape(norm.shape)
            better = broken & (lengths(change) < smallest)
            best, smallest = torch.where(better, change, best), torch.where(better, lengths(change), smallest)
            norm = (norm * torch.where(broken, 1 - gamma, 1 + gamma)).clamp(max=eps)
            moved = norm * unit(change + _rate(step, steps) * direction)
            change = (images + _on_levels(moved, levels, norm)).clamp(0, 1) - images
    chosen = torch.where(smallest.isfinite(), best, change)
    return (images + shortened(chosen, eps)).clamp(0, 1)


def vote_is_wrong(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return whether some other class has more votes than the label, (rows,); a tie leaves the label right.

    Args:
        logits: of the noisy copies, (m, rows, classes).
        labels: class indices, (rows,).
    """
    votes = nn.functional.one_hot(logits.argmax(dim=-1), logits.shape[-1]).sum(dim=0)
    return votes.gather(1, labels.unsqueeze(1)).squeeze(1) < votes.amax(dim=1)


def _rate(step: int, steps: int) -> float:
    """Return the step length: half a cosine from 1 in the first step to nearly 0.01 after the last."""
    return _LAST_RATE + (1 - _LAST_RATE) * (1 + math.cos(math.pi * step / steps)) / 2


def _on_levels(change: torch.Tensor, levels: int | None, longest: torch.Tensor) -> torch.Tensor:
    """Round a change to whole pixel levels; towards zero where rounding to nearest would be too long."""
    if levels is None:
        return change
    counted = change * (levels - 1)
    nearest = counted.round() / (levels - 1)
    return torch.where(lengths(nearest) > longest, counted.trunc() / (levels - 1), nearest)


DDN = stepwise(ddn)
