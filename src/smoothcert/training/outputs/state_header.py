"""What the file of an unfinished training says about itself, checked before its weights are read."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError, model_validator

from smoothcert.errors import CheckpointError
from smoothcert.fields import STRICT, Settings, Text
from smoothcert.folders import WeightsFile, first_fault, open_weights
from smoothcert.reading import parse_json
from smoothcert.training.outputs.metrics import EpochMetrics

STATE_FILE = "training.safetensors"
_FIX = "remove it to train from the start"


class StateHeader(BaseModel):
    """The record in the header of a state; arguments as for `TrainingState`.

    Not the state: it holds no weights.

    Args:
        config: the configuration, as plain values.
        dataset_digest: of the training split.
        metrics: one entry per finished epoch, in order.
        best_epoch: number of the epoch that did best; 0 without a hold-out.
        tensors: names of all tensors, sorted.
    """

    model_config = STRICT

    config: Settings
    dataset_digest: Text
    metrics: tuple[EpochMetrics, ...]
    best_epoch: int
    tensors: tuple[str, ...]

    @model_validator(mode="after")
    def _of_epochs(self) -> Self:
        epochs = [one.epoch for one in self.metrics]
        if epochs != list(range(1, len(epochs) + 1)):
            raise ValueError("its metrics are not those of epochs 1, 2, ..")
        least = 0 if self.config.get("holdout") == "none" else 1
        if not least <= self.best_epoch <= len(epochs) * least:
            raise ValueError(f"its best epoch is none of its {len(epochs)} epochs")
        planned = self.config.get("epochs")
        if not isinstance(planned, int) or len(epochs) > planned:
            raise ValueError("it has more epochs than its training")
        return self


def open_state(folder: Path) -> tuple[StateHeader, WeightsFile]:
    """Read the record in the header of a state, and what else the header says; `CheckpointError` if it is damaged.

    Args:
        folder: of an unfinished training.
    """
    path = folder / STATE_FILE
    file = open_weights(path, fix=_FIX)
    if "state" not in file.metadata:
        raise damage(folder, "it has no record of a training")
    text = file.metadata["state"]
    try:
        parse_json(text, "its record", CheckpointError)  # neither deep nor NaN
        header = StateHeader.model_validate_json(text)
    except ValidationError as error:
        raise damage(folder, first_fault(error)) from error
    except CheckpointError as error:
        raise damage(folder, str(error)) from error
    if set(header.tensors) != set(file.entries):
        raise damage(folder, "its tensors are not those that its record names")
    return header, file


def damage(folder: Path, reason: str) -> CheckpointError:
    """Return the error about a state that cannot be continued."""
    return CheckpointError(f"{folder / STATE_FILE} is damaged ({' '.join(reason.split())[:300]}); {_FIX}")
