"""A network with heads, as an attack on every head's own loss sees it."""

from __future__ import annotations

import torch
from torch import nn

from smoothcert.attacks import smoothed_loss
from smoothcert.networks import MultiHead


class SeparateHeads(nn.Module):
    """The heads' logits side by side, and the mean over the heads of each one's smoothed loss.

    Not a classifier: its answer is (rows, heads x classes). It shares the network's weights and modes.

    Args:
        network: the network with heads.
    """

    def __init__(self, network: MultiHead) -> None:
        super().__init__()
        self.network = network

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of all heads in one row each, (rows, heads x classes)."""
        return self.network.head_logits(batch).flatten(1)

    def losses(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return mean_k -log mean_i F^k_y per image, (rows,).

        Args:
            logits: of the noisy copies, as `forward` gives them, (m, rows, heads x classes).
            labels: class indices, (rows,).
        """
        heads = logits.reshape(*logits.shape[:2], len(self.network.heads), -1).unbind(dim=2)
        return torch.stack([smoothed_loss(of_head, labels) for of_head in heads]).mean(dim=0)
