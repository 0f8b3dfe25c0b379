"""How many rows a forward pass is best given."""

from __future__ import annotations

import torch

_BATCH_VALUES = 2**17  # float32 values per batch: larger ones were slower on every network measured
_UNIT, _MOST_ROWS = 64, 1024


def rows_in_cache(image: torch.Tensor) -> int:
    """Return the rows of a batch that suits a core's cache, a multiple of 64.

    Args:
        image: one input, or the features that take its place.
    """
    units = _BATCH_VALUES // max(image.numel() * _UNIT, 1)
    return _UNIT * min(max(units, 1), _MOST_ROWS // _UNIT)
