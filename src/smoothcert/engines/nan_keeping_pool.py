"""Max pooling that keeps NaN, for runtimes whose own does not."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn.functional import avg_pool2d

from smoothcert.engines.errors import EngineUnavailableError

_MAX_POOLS = (
    *(
        nn.MaxPool1d,
        nn.MaxPool2d,
        nn.MaxPool3d,
        nn.AdaptiveMaxPool1d,
        nn.AdaptiveMaxPool2d,
        nn.AdaptiveMaxPool3d,
    ),
    *(nn.FractionalMaxPool2d, nn.FractionalMaxPool3d),
)


class NanKeepingMaxPool(nn.Module):
    """Max pooling plus zero times the mean of the same window: the same numbers, and NaN where a value was none.

    ONNX Runtime takes the largest of the values that are numbers, which would make a vote of an answer that is none.

    Args:
        pool: two-dimensional, without dilation.
    """

    def __init__(self, pool: nn.MaxPool2d) -> None:
        super().__init__()
        self.pool = pool

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the pooled features, (rows, channels, height, width)."""
        pool = self.pool
        mean = avg_pool2d(features, pool.kernel_size, pool.stride, pool.padding, pool.ceil_mode)
        largest: torch.Tensor = pool(features)
        return largest + 0.0 * mean


def with_nan_keeping_pools(model: nn.Module) -> nn.Module:
    """Return a model, or a copy of it in which every max pooling layer keeps NaN; weights are shared."""
    if not any(_replaceable(part) for part in model.modules()):
        return model
    # Weights and buffers stay the same tensors: only the tree of modules is copied.
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    copied = copy.deepcopy(model, dict(shared))
    for parent in list(copied.modules()):
        if not isinstance(parent, NanKeepingMaxPool):
            for name, child in parent.named_children():
                if _replaceable(child):
                    setattr(parent, name, NanKeepingMaxPool(child))  # type: ignore[arg-type]
    return copied.train(model.training)


def refuse_other_pools(model: nn.Module) -> None:
    """Raise `EngineUnavailableError` for a max pooling layer that has no form that keeps NaN here."""
    for part in model.modules():
        if isinstance(part, _MAX_POOLS) and not _replaceable(part):
            raise EngineUnavailableError(f"its {type(part).__name__} would hide what is no number")


def _replaceable(part: nn.Module) -> bool:
    return isinstance(part, nn.MaxPool2d) and part.dilation in (1, (1, 1)) and not part.return_indices
