"""What every engine offers: a batch of noisy images in, checked logits out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from smoothcert.ensembles import Panel, VotingEnsemble
from smoothcert.errors import ModelOutputError
from smoothcert.registry import Registry

MIN_ROWS = 16
"""No forward pass runs on fewer rows: single rows take other kernels, and with them other rounding."""

Model = Callable[[torch.Tensor], Any]


class EngineUnavailableError(Exception):
    """An engine cannot execute a model; the message says why. Never seen by users: another engine steps in."""


class Engine(ABC):
    """A way to execute a classifier: the same answers as the model itself, faster or elsewhere.

    Not allowed to let one row's answer depend on another's. Called from several threads at once; kernels
    release the interpreter lock. The model must not be changed while an engine made from it is in use.

    Args:
        model: any callable from a float32 batch to logits of shape (rows, classes), or
            (rows, answers, classes) for several classifiers answered by the same forward passes.
        num_classes: classes that every answer must have.
        example: one image of the shape that will be asked about.
    """

    engine_name: ClassVar[str]

    def __init__(self, model: Model, num_classes: int, example: torch.Tensor) -> None:
        self.model = model
        self.num_classes = num_classes
        self.probed = False  # set by whoever has checked that this is a fixed function of one image
        # Only what this package makes says what it costs; an attribute of that name on a user's model is its own.
        cost = model.evaluations_per_vote if isinstance(model, Panel | VotingEnsemble) else 1
        self.evaluations_per_vote: tuple[int, ...] = (cost,) if isinstance(cost, int) else cost

    @property
    def answers(self) -> int:
        """How many classifiers answer at once; 1 unless the model is a panel."""
        return len(self.evaluations_per_vote)

    @abstractmethod
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Execute the model on a float32 CPU batch of at least MIN_ROWS rows; logits may be on any device."""

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits of shape (rows, answers, classes) for a batch of any number of rows."""
        return self.checked(batch).reshape(batch.shape[0], self.answers, self.num_classes)

    def checked(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits as the model shapes them, (rows, classes) if there is one answer, else as above.

        Calls no torch function of its own on a full batch: each one lets go of the interpreter lock, and where
        workers wait for each other, taking it again costs more than the views made here would be worth.
        """
        rows = batch.shape[0]
        if rows < MIN_ROWS:
            padded = batch.new_zeros((MIN_ROWS, *batch.shape[1:]))
            padded[:rows] = batch
            batch = padded
        logits = self.forward(batch)
        if logits.is_complex():
            raise ModelOutputError("the model answers with complex numbers; let it answer with real logits")
        wanted = (batch.shape[0], self.answers, self.num_classes)
        plain = (wanted[0], wanted[2]) if self.answers == 1 else wanted
        if tuple(logits.shape) not in (wanted, plain):
            raise ModelOutputError(
                f"the model must answer a batch of {batch.shape[0]} images with logits of shape {plain}, got "
                f"{tuple(logits.shape)}; set num_classes to the model's number of logits"
            )
        logits = logits if logits.dtype in (torch.float32, torch.float64) else logits.float()
        return logits if rows == batch.shape[0] else logits[:rows]


ENGINES: Registry[type[Engine]] = Registry("engine")
