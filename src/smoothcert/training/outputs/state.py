"""The state of an unfinished training: one safetensors file, replaced whole after every epoch.

Random streams need no state: they are keyed by seed and epoch. Nothing is ever unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as bytes_from_tensors
from torch import nn

from smoothcert.atomic import write_atomically
from smoothcert.training.outputs.metrics import EpochMetrics
from smoothcert.training.outputs.state_header import STATE_FILE, StateHeader, damage, open_state

__all__ = ["STATE_FILE", "TrainingState", "read_header"]

_STEP = "step"  # a single number
_KINDS = {"SGD": ("momentum_buffer",), "Adam": ("exp_avg", "exp_avg_sq", _STEP)}


@dataclass
class TrainingState:
    """Where a training stands after some epochs.

    Not the weights themselves, which live in model and optimiser: `save` and `load` carry both.

    Args:
        config: the configuration, as plain values; a state of another configuration is not continued.
        dataset_digest: of the training split.
        metrics: one entry per finished epoch.
        best: weights of the epoch that did best on the hold-out, by name; none without a hold-out.
        best_epoch: its number; 0 before the first, and without a hold-out.
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
        header = StateHeader(
            config=self.config,
            dataset_digest=self.dataset_digest,
            metrics=tuple(self.metrics),
            best_epoch=self.best_epoch,
            tensors=tuple(sorted(tensors)),  # all of them are needed to go on
        )
        # Cloned, because the file format refuses two names for one memory.
        plain = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
        write_atomically(folder / STATE_FILE, bytes_from_tensors(plain, {"state": header.model_dump_json()}))

    @classmethod
    def load(cls, folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
        """Read a state, whole, and put its weights into model and optimiser.

        Weights of other shapes than the model's, and momenta of other shapes than its weights', are damage: nothing
        is read before that is known.
        """
        header, file = open_state(folder)
        groups = _grouped(file.entries)
        weights = {name: (value.dtype, tuple(value.shape)) for name, value in model.state_dict().items()}
        best = weights if header.best_epoch else None
        if groups.get("model") != weights or groups.get("best") != best:
            raise damage(folder, "its weights are not those of the model")
        _refuse_moments(folder, groups.get("optimizer", {}), optimizer)
        tensors = _grouped(file.tensors())
        state = cls(header.config, header.dataset_digest, list(header.metrics), best_epoch=header.best_epoch)
        model.load_state_dict(tensors["model"])
        state.best = tensors.get("best", {})
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.get("optimizer", {}).items():
            number, _, what = name.partition("/")
            moments.setdefault(int(number), {})[what] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        return state


def read_header(folder: Path) -> StateHeader:
    """Return what a state says about itself: configuration, metrics, and the names of its tensors."""
    return open_state(folder)[0]


def _refuse_moments(folder: Path, entries: dict[str, Any], optimizer: torch.optim.Optimizer) -> None:
    """Refuse momenta of weights that are not there, of other kinds than the optimiser's, or of another shape."""
    weights = {
        str(number): weight
        for number, weight in enumerate(one for group in optimizer.param_groups for one in group["params"])
    }
    kinds = _KINDS[type(optimizer).__name__]
    moved = {name.partition("/")[0] for name in entries}  # frozen weights have none
    if not moved <= set(weights) or set(entries) != {
        f"{number}/{kind}" for number in moved for kind in kinds
    }:
        raise damage(folder, "its momenta are not those of the optimiser")
    for name, entry in entries.items():
        number, _, kind = name.partition("/")
        weight = weights[number]
        if entry != ((torch.float32, ()) if kind == _STEP else (weight.dtype, tuple(weight.shape))):
            raise damage(folder, f"the momentum {name} does not fit its weight")


def _grouped(tensors: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Sort tensors, or what is known about them, by the first part of their names."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in tensors.items():
        group, _, rest = name.partition("/")
        groups.setdefault(group, {})[rest] = value
    return groups
