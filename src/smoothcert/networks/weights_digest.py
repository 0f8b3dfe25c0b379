"""The digest that ties a certificate to the weights it is about, whatever the layout of their tensors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import torch
from torch import nn

from smoothcert.errors import ModelOutputError


def _weights(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield what `state_dict` holds, but past its hooks, which may hide weights that decide the answers."""
    yield from module.named_parameters(remove_duplicate=False)
    passing = {
        f"{place}.{name}" if place else name
        for place, part in module.named_modules(remove_duplicate=False)
        for name in part._non_persistent_buffers_set
    }
    buffers = module.named_buffers(remove_duplicate=False)
    yield from ((name, tensor) for name, tensor in buffers if name not in passing)


def weights_digest(module: nn.Module) -> str:
    """Return SHA-256 over name, dtype, shape and bytes of all parameters and buffers, as hex digits.

    Not a digest of the code that uses them: two architectures with equal weights agree.
    """
    content_digest = hashlib.sha256()
    for name, tensor in sorted(_weights(module)):
        content = tensor_content(tensor)
        if content is None:
            raise ModelOutputError(
                f"weight {name!r} of the model ({tensor.dtype}, {tensor.device}) has no values to read; load its "
                "weights onto a device first"
            )
        content_digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode() + b"\n")
        content_digest.update(content)
    return content_digest.hexdigest()


def tensor_content(tensor: torch.Tensor) -> bytes | None:
    """Return a tensor's values as bytes; None where it has none to show: on the meta device, nested, lazy, subclassed.

    The tensor stays as it is: what NumPy has seen of a tensor could not be resized any more, so it sees a copy.
    """
    try:
        return b"".join(_bytes(part) for part in _strided(tensor.detach()))
    except (RuntimeError, NotImplementedError, TypeError, ValueError):  # torch's answers where there is none
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
