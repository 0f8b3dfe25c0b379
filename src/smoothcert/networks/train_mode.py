"""Train mode, in which a network's answers depend on the batch."""

from __future__ import annotations

from typing import Any

from torch import nn

from smoothcert.errors import UnsoundModelError


def part_in_train_mode(model: Any) -> str | None:
    """Return the name of the first part of a torch module that is in train mode; None for none and for other models."""
    if not isinstance(model, nn.Module):
        return None
    return next(
        (
            name or "the model itself"
            for name, part in model.named_modules()
            if getattr(part, "training", False)
        ),
        None,
    )


def refuse_training_mode(model: Any) -> None:
    """Refuse a torch module any part of which is in train mode."""
    part = part_in_train_mode(model)
    if part is not None:
        raise UnsoundModelError(
            f"the model is in train mode ({part}), where its answers depend on the batch; "
            "call model.eval() first"
        )
