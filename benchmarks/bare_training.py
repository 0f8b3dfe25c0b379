"""The denominator of the training loop's overhead: a plain PyTorch loop with noise, and nothing else."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import cross_entropy


class BareTraining:
    """Gaussian augmentation as one would write it in ten lines: no streams, no parts, no schedule.

    Args:
        model: the network, trained further with every call.
        images: float images in pixel units, (rows, ...).
        labels: class indices, (rows,).
        sigma: standard deviation of the noise, in pixel units.
        batch: images per step.
        lr: learning rate.
    """

    def __init__(
        self,
        model: nn.Module,
        images: torch.Tensor,
        labels: torch.Tensor,
        *,
        sigma: float,
        batch: int,
        lr: float,
    ) -> None:
        self.model, self.images, self.labels = model.train(), images, labels
        self.sigma, self.batch = sigma, batch
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)

    def __call__(self) -> int:
        """Train for one epoch and return the number of images."""
        for chosen in torch.split(torch.randperm(len(self.images)), self.batch):
            images = self.images[chosen]
            loss = cross_entropy(
                self.model(images + self.sigma * torch.randn_like(images)), self.labels[chosen]
            )
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
        return len(self.images)
