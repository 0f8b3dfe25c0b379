"""The digest that ties a certificate to the weights it is about."""

from __future__ import annotations

import hashlib
import json

import torch
from torch import nn

from smoothcert.errors import ModelOutputError
from smoothcert.models.tensor_content import tensor_content


def weights_digest(module: nn.Module) -> str:
    """Return SHA-256 over name, dtype, shape and bytes of all parameters and buffers, as hex digits.

    Not a digest of the code that uses them: two architectures with equal weights agree.
    """
    found = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        if not isinstance(tensor, torch.Tensor):  # extra state of a user's module, which is no weight
            continue
        content = tensor_content(tensor)
        if content is None:
            raise ModelOutputError(
                f"weight {name!r} of the model ({tensor.dtype}, {tensor.device}) has no values to read; load its "
                "weights onto a device first"
            )
        found.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode() + b"\n")
        found.update(content)
    return found.hexdigest()
