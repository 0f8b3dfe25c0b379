"""A file's tensors under our names and in our types."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from smoothcert.errors import CheckpointError
from smoothcert.folders.checkpoints.layout import Entries, Placed
from smoothcert.visible import brief

MOST_TENSORS = 20_000
"""Of a file: ten times those of the largest network here, with a hundred heads."""
_WIDENED = (torch.float16, torch.bfloat16)  # every such number is a 32-bit one too
_COUNTER = "num_batches_tracked"


def entries_of(tensors: Mapping[str, torch.Tensor], source: str) -> Entries:
    """Return type and shape of every tensor as it will be kept; refuse more tensors than any network has.

    Args:
        tensors: by name.
        source: names the file in messages.
    """
    if len(tensors) > MOST_TENSORS:
        raise CheckpointError(
            f"{source} holds {len(tensors):,} tensors, and {MOST_TENSORS:,} is the most that is read; give a file of "
            "one network"
        )
    return {
        name: (torch.float32 if tensor.dtype in _WIDENED else tensor.dtype, tuple(tensor.shape))
        for name, tensor in tensors.items()
    }


def counters_missing(found: Placed) -> list[str]:
    """Return our names of the counters of batches that files of old torch lack; batch norms do not use them."""
    ours = set(found.names.values())
    norms = (name.removesuffix("running_var") for name in ours if name.endswith(".running_var"))
    return sorted(f"{norm}{_COUNTER}" for norm in norms if f"{norm}{_COUNTER}" not in ours)


def our_entries(found: Placed, entries: Entries) -> Entries:
    """Return type and shape of what will be kept by our names, the missing counters with them."""
    counters = dict.fromkeys(counters_missing(found), (torch.int64, ()))
    return {**{ours: entries[name] for name, ours in found.names.items()}, **counters}


def our_tensors(found: Placed, tensors: Mapping[str, torch.Tensor], source: str) -> dict[str, torch.Tensor]:
    """Return the weights by our names, once their shapes are known to be those of the network.

    Args:
        found: where they belong.
        tensors: by the file's names.
        source: names the file in messages.
    """
    kept = {name: torch.zeros((), dtype=torch.int64) for name in counters_missing(found)}
    for name, ours in found.names.items():
        value = tensors[name].detach()
        value = value.float() if value.dtype in _WIDENED else value.clone()
        if not torch.isfinite(value).all():
            raise CheckpointError(f"{source} has NaN or infinite numbers in {brief(name)}; give a whole file")
        if ours.endswith(".running_var") and found.variance_offset:
            # Under the root stands the sum of the two: what one lacks, the other takes.
            value = (value.double() + found.variance_offset).float()
        kept[ours] = value
    return kept
