"""The smoothed classifier as attacks see it: the mean softmax over m fixed noises of every image."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property

from smoothcert.attacks.smoothed_loss import noisy_logits
from smoothcert.on_demand import nn, torch
from smoothcert.seeding import generator_for


class MeanSoftmax:
    """Logarithm of the mean softmax over fixed noises, one set of noises per row.

    Not random, and not what is judged: PREDICT is asked about whatever an attack finds. What an attack draws for a row
    depends on that row's noises alone, so that it does not matter which rows are attacked together.

    Args:
        model: batch -> logits, in eval mode (`attacked`).
        offsets: noise of the m copies, (m, rows, ...).
    """

    def __init__(self, model: nn.Module, offsets: torch.Tensor) -> None:
        self.model, self.offsets = model, offsets

    def __call__(self, images: torch.Tensor) -> torch.Tensor:
        """Return log-probabilities up to a common constant, (rows, classes)."""
        return noisy_logits(self.model, images, self.offsets).log_softmax(dim=-1).logsumexp(dim=0)

    def answers(self, images: torch.Tensor) -> torch.Tensor:
        """Return the same without a graph."""
        with torch.no_grad():
            return self(images)

    def is_fooled(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return where another class than the label leads, (rows,)."""
        return self.answers(images).argmax(dim=1) != labels

    def slope(
        self, images: torch.Tensor, height: Callable[[torch.Tensor], torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return gradient, value per row and answers, all without a graph.

        Args:
            images: where to take the gradient, (rows, ...).
            height: from answers, (rows, classes), to one value per row.
        """
        with torch.enable_grad():
            moving = images.detach().clone().requires_grad_()
            answers = self(moving)
            values = height(answers)
            # The sum keeps the rows apart, because in eval mode no image sees another.
            (gradient,) = torch.autograd.grad(values.sum(), moving)
        return gradient, values.detach(), answers.detach()

    def only(self, rows: torch.Tensor) -> MeanSoftmax:
        """Return the same for some of the rows, (k,) indices."""
        return MeanSoftmax(self.model, self.offsets[:, rows])

    def generators(self, phase: str) -> list[torch.Generator]:
        """Return one source of random numbers per row."""
        return [generator_for(seed, 0, phase) for seed in self._seeds]

    @cached_property
    def _seeds(self) -> Sequence[int]:
        rows = self.offsets.transpose(0, 1).contiguous()
        return [int.from_bytes(hashlib.sha256(row.numpy(force=True).tobytes()).digest()[:16]) for row in rows]


def rivals(answers: torch.Tensor, labels: torch.Tensor, most: int) -> torch.Tensor:
    """Return the leading classes other than the label, likeliest first, (rows, at most `most`).

    Args:
        answers: (rows, classes).
        labels: class indices, (rows,).
        most: how many, or all there are.
    """
    others = answers.scatter(1, labels.unsqueeze(1), -torch.inf)
    return others.argsort(dim=1, descending=True, stable=True)[:, : min(most, answers.shape[1] - 1)]
