"""What a model answers, as logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from smoothcert.errors import ModelOutputError

_NARROW = (torch.bfloat16, torch.float16)  # which float32 holds exactly


def as_logits(answer: Any) -> torch.Tensor:
    """Return an answer as a tensor that tells apart all numbers that the model told apart.

    Whole numbers stay whole and Python's numbers keep 64 bits: rounded to float32, the best class could become
    another.
    """
    # Lists through NumPy, because torch would read them as float32.
    tensor = answer if isinstance(answer, torch.Tensor) else torch.as_tensor(np.asarray(answer))
    if tensor.is_complex():
        raise ModelOutputError("the model answers with complex numbers; let it answer with real logits")
    return tensor.float() if tensor.dtype in _NARROW else tensor
