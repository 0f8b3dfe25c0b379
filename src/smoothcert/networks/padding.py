"""No forward pass runs on few rows."""

from __future__ import annotations

import torch

MIN_ROWS = 16
"""No forward pass runs on fewer rows: single rows take other kernels, and with them other rounding."""


def padded(batch: torch.Tensor, least: int = MIN_ROWS) -> torch.Tensor:
    """Return the batch itself, or one of the least number of rows that begins with it and ends with zeros.

    Args:
        batch: (rows, ..).
        least: rows that a pass must have.
    """
    rows = batch.shape[0]
    if rows >= least:
        return batch
    whole = batch.new_zeros((least, *batch.shape[1:]))
    whole[:rows] = batch
    return whole
