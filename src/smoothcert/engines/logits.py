"""What a model answers, as logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from smoothcert.errors import ModelOutputError

_NARROW = (torch.bfloat16, torch.float16, torch.bool)  # which float32 holds exactly
_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_KNOWN = (*_NARROW, torch.float32, torch.float64, *_WHOLE)


def as_logits(answer: Any) -> torch.Tensor:
    """Return an answer as a tensor that tells apart all numbers that the model told apart.

    Whole numbers stay whole and Python's numbers keep 64 bits: rounded to float32, the best class could become
    another.
    """
    tensor = answer if isinstance(answer, torch.Tensor) else _from_numpy(answer)
    if tensor.is_complex():
        raise ModelOutputError("the model answers with complex numbers; let it answer with real logits")
    if tensor.dtype not in _KNOWN:
        raise ModelOutputError(
            f"the model answers with numbers of type {tensor.dtype}; let it answer with float32 logits"
        )
    return tensor.float() if tensor.dtype in _NARROW else tensor


def _from_numpy(answer: Any) -> torch.Tensor:
    """Read an array, or lists by way of one, because torch would read those as float32."""
    try:
        return torch.as_tensor(np.asarray(answer))
    except (TypeError, ValueError) as error:
        raise ModelOutputError(
            f"the model must answer with one tensor or array of logits, got {type(answer).__name__}; return the logits "
            "alone"
        ) from error
