"""What is known about a training after each epoch, and the file it is kept in."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from pydantic import BaseModel, Field

from smoothcert.atomic import write_atomically
from smoothcert.fields import STRICT, Figures

METRICS_FILE = "metrics.jsonl"


class EpochMetrics(BaseModel):
    """How one epoch went; one line of `metrics.jsonl`.

    Args:
        epoch: number of the epoch, from 1.
        loss: mean training loss per image.
        holdout_noisy_accuracy: fraction of noisy hold-out images classified right; None without a hold-out.
        seconds: training time until the end of this epoch, resumed trainings included.
        lr: learning rate of the last step.
        images_per_second: distinct training images per second, without the measuring after the epoch.
        peak_memory_mb: largest memory of this process so far (of the device, where that is no CPU), in MB.
        parts: mean of every named part of the loss.
        holdout_acr: average certified radius of the hold-out images that were certified, or None.
    """

    model_config = STRICT

    epoch: int = Field(ge=1)
    loss: float
    holdout_noisy_accuracy: float | None
    seconds: float
    lr: float = 0.0
    images_per_second: float = 0.0
    peak_memory_mb: float = 0.0
    parts: Figures = Field(default_factory=dict)
    holdout_acr: float | None = None


def write_metrics(metrics: Sequence[EpochMetrics], folder: Path) -> None:
    """Write one JSON line per epoch, the whole file at once."""
    lines = "".join(json.dumps(one.model_dump()) + "\n" for one in metrics)
    write_atomically(folder / METRICS_FILE, lines)


def peak_memory_mb(device: torch.device) -> float:
    """Return the largest memory used so far by this process, or on its device if that is not the CPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3  # bytes there, kilobytes elsewhere
