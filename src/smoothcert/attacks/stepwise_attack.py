"""What every attack within a ball offers."""

from __future__ import annotations

from typing import Protocol

from smoothcert.on_demand import nn, torch


class Attack(Protocol):
    """A search for an image close by on which the smoothed classifier does worse.

    Not a change of the network: weights, gradients, buffers and modes are left as found. Not random: the noise is
    an argument, because the same m noises serve the attack and the loss.
    """

    __name__: str

    def __call__(
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        offsets: torch.Tensor,
        *,
        eps: float,
        steps: int,
    ) -> torch.Tensor:
        """Return images in [0, 1] within l2 distance `eps` of the given ones, (rows, ...), without a graph.

        Args:
            model: batch -> logits.
            images: clean images in [0, 1], (rows, ...).
            labels: class indices, (rows,).
            offsets: noise of the m copies, (m, rows, ...).
            eps: radius of the ball, in pixel units.
            steps: gradient steps T.
        """
        ...
