"""What every engine offers: a batch of noisy images in, checked logits out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from smoothcert.errors import ModelOutputError
from smoothcert.registry import Registry

MIN_ROWS = 16
"""No forward pass runs on fewer rows: single rows take other kernels, and with them other rounding."""

Model = Callable[[torch.Tensor], Any]


class Engine(ABC):
    """A way to execute a classifier: the same answers as the model itself, faster or elsewhere.

    Not allowed to let one row's answer depend on another's. Called from several threads at once.

    Args:
        model: any callable from a float32 batch to logits of shape (rows, classes), or
            (rows, answers, classes) for several classifiers answered by the same forward passes.
        num_classes: classes that every answer must have.
    """

    engine_name: ClassVar[str]

    def __init__(self, model: Model, num_classes: int) -> None:
        self.model = model
        self.num_classes = num_classes
        cost = getattr(model, "evaluations_per_vote", 1)
        self.evaluations_per_vote: tuple[int, ...] = (cost,) if isinstance(cost, int) else tuple(cost)

    @property
    def answers(self) -> int:
        """How many classifiers answer at once; 1 unless the model is a panel."""
        return len(self.evaluations_per_vote)

    @abstractmethod
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Execute the model on a batch of at least MIN_ROWS rows."""

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits of shape (rows, answers, classes) for a batch of any number of rows."""
        rows = batch.shape[0]
        if rows < MIN_ROWS:
            padded = batch.new_zeros((MIN_ROWS, *batch.shape[1:]))
            padded[:rows] = batch
            batch = padded
        given = self.forward(batch)
        logits = given.unsqueeze(1) if given.dim() == 2 and self.answers == 1 else given
        wanted = (batch.shape[0], self.answers, self.num_classes)
        if tuple(logits.shape) != wanted:
            expected = (wanted[0], wanted[2]) if self.answers == 1 else wanted
            raise ModelOutputError(
                f"the model must answer a batch of {batch.shape[0]} images with logits of shape {expected}, got "
                f"{tuple(given.shape)}; set num_classes to the model's number of logits"
            )
        return logits[:rows]


ENGINES: Registry[type[Engine]] = Registry("engine")
