"""Gradient ascent without a ball: how SmoothMix looks for over-confident images (Jeong et al. 2021)."""

from __future__ import annotations

from smoothcert.attacks.ascent import Losses, ascent
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.smoothed_loss import smoothed_loss
from smoothcert.on_demand import nn, torch


def free_steps(
    model: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    offsets: torch.Tensor,
    *,
    step_size: float,
    steps: int,
    first: float | None = None,
    losses: Losses = smoothed_loss,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images after T steps and after a first step of another length; clamped to [0, 1], no graph.

    Not an attack within a budget: nothing but T times the step size limits the distance. Both results share the
    gradient at the image, so the second costs nothing.

    Args:
        model: batch -> logits.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        offsets: noise of the m copies, (m, rows, ...).
        step_size: length of a step, in pixel units.
        steps: gradient steps T, at least 1.
        first: length of the one step of the second result, in pixel units; `step_size` if None.
        losses: what to climb, if not the loss of the smoothed classifier.
    """
    images = images.detach()
    with attacked(model):
        direction, _ = ascent(model, images, labels, offsets, losses)
        one_step = (images + (step_size if first is None else first) * direction).clamp(0, 1)
        moving = (images + step_size * direction).clamp(0, 1)
        for _ in range(steps - 1):
            direction, _ = ascent(model, moving, labels, offsets, losses)
            moving = (moving + step_size * direction).clamp(0, 1)
    return moving, one_step
