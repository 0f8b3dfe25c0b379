"""The bytes of a tensor, whatever its layout."""

from __future__ import annotations

from collections.abc import Iterator

import torch


def tensor_content(tensor: torch.Tensor) -> bytes | None:
    """Return a tensor's values as bytes; None where it has none to show: on the meta device, nested, lazy, subclassed.

    The tensor stays as it is: what NumPy has seen of a tensor could not be resized any more, so it sees a copy.
    """
    try:
        return b"".join(_bytes(part) for part in _strided(tensor.detach()))
    except (
        RuntimeError,
        NotImplementedError,
        TypeError,
        ValueError,
    ):  # torch's answers to a question that has none
        return None


def _strided(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the ordinary tensors that make up one of another layout."""
    if tensor.layout is torch.sparse_coo:
        whole = tensor.coalesce()
        yield from (whole.indices(), whole.values())
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    else:
        yield tensor


def _bytes(tensor: torch.Tensor) -> bytes:
    plain = tensor.cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return plain.clone().view(torch.uint8).numpy().tobytes()
