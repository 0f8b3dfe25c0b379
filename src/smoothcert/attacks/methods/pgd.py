"""Projected gradient ascent on the smoothed loss (SmoothAdv, Salman et al. 2019)."""

from __future__ import annotations

from smoothcert.attacks.ascent import ascent
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.length import shortened
from smoothcert.attacks.stepwise import stepwise
from smoothcert.on_demand import nn, torch


def pgd(
    model: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    offsets: torch.Tensor,
    *,
    eps: float,
    steps: int,
) -> torch.Tensor:
    """Return the image after T steps of length 2 eps / T, each projected to the eps ball and to [0, 1].

    Not started at a random point: it starts at the image itself, and an image whose gradient is zero stays there.

    Args:
        model: batch -> logits.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        offsets: noise of the m copies, (m, rows, ...).
        eps: radius of the l2 ball, in pixel units.
        steps: gradient steps T.
    """
    images = images.detach()
    adversarial = images
    with attacked(model):
        for _ in range(steps):
            direction, _ = ascent(model, adversarial, labels, offsets)
            moved = adversarial + (2 * eps / steps) * direction - images
            # Clamping comes second: it moves values towards the image, so it cannot leave the ball again.
            adversarial = (images + shortened(moved, eps)).clamp(0, 1)
    return adversarial


PGD = stepwise(pgd)
