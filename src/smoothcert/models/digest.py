"""The digest that ties a certificate to the weights it is about."""

from __future__ import annotations

import hashlib
import json

import torch
from torch import nn


def weights_digest(module: nn.Module) -> str:
    """Return SHA-256 over name, dtype, shape and bytes of all parameters and buffers, as hex digits.

    Not a digest of the code that uses them: two architectures with equal weights agree.
    """
    found = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        plain = tensor.detach().cpu().contiguous()
        found.update(json.dumps([name, str(plain.dtype), list(plain.shape)]).encode() + b"\n")
        found.update(plain.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
