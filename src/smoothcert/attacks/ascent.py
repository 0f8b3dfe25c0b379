"""The direction in which the smoothed loss rises fastest."""

from __future__ import annotations

from collections.abc import Callable

from smoothcert.attacks.length import unit
from smoothcert.attacks.smoothed_loss import noisy_logits, smoothed_loss
from smoothcert.on_demand import nn, torch

# Price of one such gradient per noisy copy, in training passes: forward and the gradient at the input cost as much
# each as the gradient of the weights, which a training pass takes in addition.
GRADIENT_PASS = 2 / 3

# From the logits of the noisy copies, (m, rows, ..), and the labels, (rows,), to a loss per image, (rows,).
Losses = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]


def ascent(
    model: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    offsets: torch.Tensor,
    losses: Losses = smoothed_loss,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the unit gradient of the smoothed loss at the images, and the logits found on the way.

    Not a step, and not a guard: call it inside `attacked(model)`. Where the gradient is zero so is the direction.
    Gradients are taken with respect to the images alone; neither result carries a graph.

    Args:
        model: batch -> logits.
        images: where to take the gradient, (rows, ...).
        labels: class indices, (rows,).
        offsets: noise of the m copies, (m, rows, ...).
        losses: what to climb, if not the loss of the smoothed classifier.
    """
    with torch.enable_grad():
        moving = images.detach().clone().requires_grad_()
        logits = noisy_logits(model, moving, offsets)
        # The sum keeps the images apart, because in eval mode no image sees another.
        (gradient,) = torch.autograd.grad(losses(logits, labels).sum(), moving)
    return unit(gradient), logits.detach()
