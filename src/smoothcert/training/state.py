"""The state of an unfinished training: one safetensors file, replaced whole after every epoch.

Random streams need no state: they are keyed by seed and epoch. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as bytes_from_tensors
from torch import nn

from smoothcert.atomic import write_atomically
from smoothcert.errors import CheckpointError
from smoothcert.training.metrics import EpochMetrics

STATE_FILE = "training.safetensors"


@dataclass
class TrainingState:
    """Where a training stands after some epochs.

    Not the weights themselves, which live in model and optimiser: `save` and `load` carry both.

    Args:
        config: the configuration, as plain values; a state of another configuration is not continued.
        dataset_digest: of the training split.
        metrics: one entry per finished epoch.
        best: weights of the epoch that did best on the hold-out, by name.
        best_epoch: its number; 0 before the first.
    """

    config: dict[str, Any]
    dataset_digest: str
    metrics: list[EpochMetrics] = field(default_factory=list)
    best: dict[str, torch.Tensor] = field(default_factory=dict)
    best_epoch: int = 0

    def save(self, folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Write the state and the weights it is about."""
        moments = optimizer.state_dict()["state"]
        tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self.best.items()}
        tensors |= {
            f"optimizer/{number}/{name}": torch.as_tensor(value)
            for number, values in moments.items()
            for name, value in values.items()
            if value is not None
        }
        header = {
            "config": self.config,
            "dataset_digest": self.dataset_digest,
            "metrics": [asdict(one) for one in self.metrics],
            "best_epoch": self.best_epoch,
            "tensors": sorted(tensors),  # all of them are needed to go on
        }
        # Cloned, because the file format refuses two names for one memory.
        plain = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
        write_atomically(folder / STATE_FILE, bytes_from_tensors(plain, {"state": json.dumps(header)}))

    @classmethod
    def load(cls, folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
        """Read a state, whole, and put its weights into model and optimiser."""
        header = read_header(folder)
        with _damage(folder):
            with safe_open(folder / STATE_FILE, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in header["tensors"]}
            metrics = [EpochMetrics(**one) for one in header["metrics"]]
            state = cls(header["config"], header["dataset_digest"], metrics, best_epoch=header["best_epoch"])
            groups = _grouped(tensors)
            model.load_state_dict(groups["model"])
            state.best = groups["best"]
            moments: dict[int, dict[str, torch.Tensor]] = {}
            for name, value in groups.get("optimizer", {}).items():
                number, _, what = name.partition("/")
                moments.setdefault(int(number), {})[what] = value
            optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        return state


def read_header(folder: Path) -> dict[str, Any]:
    """Return what a state says about itself: configuration, metrics, and the names of its tensors."""
    with _damage(folder), safe_open(folder / STATE_FILE, framework="pt") as file:
        header: dict[str, Any] = json.loads(file.metadata()["state"])
        if not isinstance(header["config"], dict) or not isinstance(header["dataset_digest"], str):
            raise TypeError("its header is no record of a training")
        return header


@contextlib.contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Say in one sentence what is wrong with a state that cannot be read."""
    try:
        yield
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise CheckpointError(
            f"{folder / STATE_FILE} is damaged ({reason}); remove it to train from the start"
        ) from error


def _grouped(tensors: dict[str, torch.Tensor]) -> dict[str, dict[str, torch.Tensor]]:
    """Sort tensors by the first part of their names."""
    groups: dict[str, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        group, _, rest = name.partition("/")
        groups.setdefault(group, {})[rest] = value
    return groups
