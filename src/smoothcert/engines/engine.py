"""What every engine offers: a batch of noisy images in, checked logits out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.engines.turns import forward_pass, turn
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.workload import Model, Workload, device_of, rows_in_cache
from smoothcert.errors import ModelOutputError
from smoothcert.networks import (
    MIN_ROWS,
    Composite,
    QuantizedNetwork,
    as_logits,
    evaluations_of,
    padded,
    precision_of,
)
from smoothcert.registry import name_of


class Engine(ABC):
    """A way to execute a classifier: the same answers as the model itself, faster or elsewhere.

    Not allowed to let one row's answer depend on another's. Called from several threads at once; unless
    `shareable`, they are let in one at a time. While an engine is in use, its model must not be changed, nor asked by
    others where it keeps things from call to call.

    Args:
        model: any callable from a float32 batch to logits of shape (rows, classes) (`answer_of`), or
            (rows, answers, classes) for several classifiers answered by the same forward passes.
        num_classes: classes that every answer must have.
        example: one image of the shape that will be asked about.
        device: where noise is drawn and votes are counted: where the model runs.
    """

    registered_name: ClassVar[str]  # that of its file
    otherwise: ClassVar[str | None] = (
        "torch"  # the engine that runs what this one cannot; None if it runs everything
    )
    takes_parts: ClassVar[bool] = True  # whether of a model that exits early it runs every part by itself
    runs_onnx_files: ClassVar[bool] = (
        False  # whether it runs what is an ONNX file, or has one among its members
    )
    runs_quantized: ClassVar[bool] = False  # whether it runs networks below float32 (`quantized_run`)
    package: ClassVar[str | None] = None  # that calculates, where it is not torch, for manifests
    exits_early: ClassVar[bool] = False  # whether rows may cost fewer evaluations than `evaluations_per_vote`
    gathers: ClassVar[int] = 1  # batches that suit a core's cache which it likes to be given at once

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "registered_name" not in vars(cls):
            cls.registered_name = name_of(cls)

    @classmethod
    def setup_seconds(cls, workload: Workload) -> float | None:
        """Return how long making this engine takes, about, where "auto" may take it for a job.

        0 is the plain engine, which "auto" takes without looking at others where a job is small; None, the default, is
        never taken unasked. Engines of other packages are not asked.
        """
        return None

    def __init__(
        self, model: Model, num_classes: int, example: torch.Tensor, device: torch.device | None = None
    ) -> None:
        self.model = model
        self.num_classes = num_classes
        self.example = example
        self.device = torch.device("cpu") if device is None else device
        self.engine_name = name_on(self.registered_name, self.device)
        self.as_is = False  # whether `forward` calls the model itself and not a transformed copy
        self.shareable = True  # whether threads may ask at the same time: no code of the user's own is run
        self.may_fork = True  # whether forked children may ask it, until that failed
        self.probed: set[Any] = set()  # under what it was found to be a fixed function of one image
        self.stands_in: str | None = None  # why another engine, which was wanted, does not run the model
        self.compared = 0  # chunks of votes that model and engine have both drawn
        self.best_rows = self.gathers * rows_in_cache(example)  # of a batch, for speed
        self.evaluations_per_vote: tuple[int, ...] = (1,)
        if isinstance(model, Composite):
            self.evaluations_per_vote = tuple(evaluations_of(one) for one in model.classifiers)
        self.answers = len(self.evaluations_per_vote)  # classifiers at once; 1 unless the model is a panel

    @classmethod
    def quantized_run(cls, network: QuantizedNetwork, rows: int) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return a function from images to the logits of a network below float32, for any threads.

        `EngineUnavailableError` says why this engine cannot run it.

        Args:
            network: in int8 or bfloat16.
            rows: of most batches.
        """
        raise EngineUnavailableError(f"it has no numbers in {network.precision}")

    @property
    def precision(self) -> str | None:
        """What the votes are calculated in where it is less than float32, for certificates; else None."""
        return precision_of(self.model)

    @abstractmethod
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Execute the model on a float32 batch of at least MIN_ROWS rows; batch and logits may be on any device."""

    def exact_forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return what `forward` does in the model's own precision, for comparing the two."""
        return self.forward(batch)

    def counted_forward(self, batch: torch.Tensor) -> tuple[torch.Tensor, NDArray[np.int64] | None]:
        """Return what `forward` does, and network evaluations by row and answer where these differ.

        None says that every row took `evaluations_per_vote`, and costs nothing.
        """
        return self.forward(batch), None

    def model_writes(self, batch: torch.Tensor) -> bool:
        """Return whether the model itself changes a batch that it is given.

        False where it cannot be asked: an engine may run what the model cannot; then nobody calls that with a shared
        batch.
        """
        given = batch.clone()
        try:
            with torch.inference_mode(), turn():
                self.model(given.to(device_of(self.model)))
        except Exception:  # the model's own code
            return False
        return not torch.equal(given, batch)

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits of shape (rows, answers, classes) for a batch of any number of rows."""
        return self.checked(batch)[0].reshape(batch.shape[0], self.answers, self.num_classes)

    def checked(self, batch: torch.Tensor) -> tuple[torch.Tensor, NDArray[np.int64] | None]:
        """Return the logits as the model shapes them, (rows, classes) if there is one answer, and evaluations.

        Calls no torch function of its own on a full batch: each one lets go of the interpreter lock, and where
        workers wait for each other, taking it again costs more than the views made here would be worth.
        Evaluations are as in `counted_forward`; rows that only fill up a batch are in neither.
        """
        rows = batch.shape[0]
        if rows < MIN_ROWS:
            batch = padded(batch)
        if self.shareable:
            with forward_pass():
                logits, passes = self.counted_forward(batch)
        else:
            with turn():  # and a copy, because a model may write all its answers into one buffer
                logits, passes = self.counted_forward(batch)
                logits = as_logits(logits, len(batch)).clone()
        if not _is_plain(logits):
            logits = as_logits(logits, len(batch))
        wanted = (batch.shape[0], self.answers, self.num_classes)
        plain = (wanted[0], wanted[2]) if self.answers == 1 else wanted
        if tuple(logits.shape) not in (wanted, plain):
            raise ModelOutputError(
                f"the model must answer a batch of {batch.shape[0]} images with logits of shape {plain}, got "
                f"{tuple(logits.shape)}; {_shape_fix(logits, wanted[0])}"
            )
        if rows == batch.shape[0]:
            return logits, passes
        return logits[:rows], None if passes is None else passes[:rows]


def _is_plain(logits: Any) -> bool:
    """Return whether an answer is what nearly all are, with nothing to read or refuse in it."""
    return (
        type(logits) is torch.Tensor
        and logits.dtype == torch.float32
        and logits.layout == torch.strided
        and not (logits.is_nested or logits.is_meta)
    )


def _shape_fix(logits: torch.Tensor, rows: int) -> str:
    if logits.dim() == 1:
        return "let it return a score for every class, not a label (of scikit-learn: give the estimator)"
    if logits.dim() == 2 and logits.shape[0] == rows:
        return "set num_classes to the model's number of logits"
    return "let it return one row of scores for every image"


def name_on(name: str, device: torch.device) -> str:
    """Return an engine's name for certificates: with the kind of device, unless that is the CPU.

    Other devices draw other noise, so their votes are others.
    """
    return name if device.type == "cpu" else f"{name}@{device.type}"
