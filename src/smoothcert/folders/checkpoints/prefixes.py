"""Prefixes that wrappers put before the names of weights: DataParallel's, and those of a layer that normalises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

_PARALLEL = "module."
_BEFORE, _AFTER = "0.", "1."  # in an nn.Sequential of a layer that normalises and a network
_NORMALISING = {"means": "mean", "mean": "mean", "sds": "std", "std": "std"}


@dataclass(frozen=True)
class Unwrapped:
    """Weights without the prefixes of wrappers.

    Args:
        tensors: by their names in the network itself.
        buffers: numbers of the layer before it, "mean" and "std", where the file has them.
        is_second: whether the network was the second part of a sequence, behind a layer that may have normalised.
        taken: the prefixes that were taken off, outermost first.
    """

    tensors: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]
    is_second: bool
    taken: tuple[str, ...]


def unwrapped(tensors: Mapping[str, torch.Tensor]) -> Unwrapped:
    """Take off the prefixes that all names have; what is no such prefix stays.

    Args:
        tensors: weights by the names in the file.
    """
    inner, buffers, taken = dict(tensors), dict[str, torch.Tensor](), list[str]()
    while True:
        if all(name.startswith(_PARALLEL) for name in inner):
            inner = _without(_PARALLEL, inner)
            taken.append(_PARALLEL)
            continue
        before = {
            _NORMALISING.get(name.removeprefix(_BEFORE).removeprefix(_PARALLEL), ""): tensor
            for name, tensor in inner.items()
            if name.startswith(_BEFORE)
        }
        after = _without(_AFTER, inner)
        # Only where all names are accounted for: a plain sequence of layers has such names too.
        if _AFTER in taken or not after or "" in before or len(before) + len(after) != len(inner):
            return Unwrapped(inner, buffers, _AFTER in taken, tuple(taken))
        inner, buffers = after, before
        taken.append(_AFTER)


def _without(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights that have a prefix, by their names without it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
